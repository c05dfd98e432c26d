//! The call that makes a container, the one that podman-api cannot make: it tells a container's log as docker's API has it,
//! which podman does not read. Podman would then keep all that the server and the guest say to each other, in the clear and
//! without end.

use hyper::{Body, Request, StatusCode, header};
use podman_api::models::{ContainerCreateCreatedBody, ErrorModel};
use podman_api::opts::ContainerCreateOpts;
use podman_api::{Error, LATEST_API_VERSION, Result, conn};
use serde_json::{Value, json};
use std::path::Path;
use tokio::net::UnixStream;

/// Has the podman on this socket make a container that has no log. Gives its id.
pub(super) async fn create(socket: &Path, options: &ContainerCreateOpts) -> Result<String> {
    let mut wanted: Value = serde_json::from_slice(&options.serialize_vec()?)?;
    wanted["log_configuration"] = json!({"driver": "none"});
    let (status, answer) = post(socket, serde_json::to_vec(&wanted)?).await?;
    if status != StatusCode::CREATED {
        return Err(Error::Fault { code: status, message: why(&answer) });
    }
    Ok(serde_json::from_slice::<ContainerCreateCreatedBody>(&answer)?.id)
}

async fn post(socket: &Path, body: Vec<u8>) -> std::result::Result<(StatusCode, Vec<u8>), conn::Error> {
    let stream = UnixStream::connect(socket).await?;
    let (mut sender, connection) = hyper::client::conn::handshake(stream).await?;
    // It ends with the sender.
    tokio::spawn(connection);
    let request = Request::post(LATEST_API_VERSION.make_endpoint("/libpod/containers/create"))
        .header(header::HOST, "podman")
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(body))?;
    let response = sender.send_request(request).await?;
    let status = response.status();
    Ok((status, hyper::body::to_bytes(response.into_body()).await?.into()))
}

/// What podman says about it, in the words that podman-api has for every other call.
fn why(answer: &[u8]) -> String {
    match serde_json::from_slice::<ErrorModel>(answer) {
        Ok(said) => format!("{}: {}", said.message.unwrap_or_default(), said.cause.unwrap_or_default()),
        Err(_) => String::from_utf8_lossy(answer).into_owned(),
    }
}
