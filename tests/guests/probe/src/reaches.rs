//! What a plugin can reach, and what it tries to.

use crate::airlock::plugin::{editor, exec, http, kv, log, run, workspace};
use crate::{Answer, text};
use serde_json::{Value, json};
use std::net::{TcpListener, TcpStream, ToSocketAddrs, UdpSocket};

pub(crate) fn echo(args: &Value) -> Answer {
    Ok(args.clone())
}

pub(crate) fn config(_: &Value) -> Answer {
    Ok(run::config().into())
}

pub(crate) fn progress(args: &Value) -> Answer {
    for number in 0..args["times"].as_u64().unwrap_or(1) {
        run::progress(&format!("{} {number}", text(args, "text")));
    }
    Ok("shown".into())
}

pub(crate) fn log(args: &Value) -> Answer {
    for _ in 0..args["times"].as_u64().unwrap_or(1) {
        log::write(text(args, "level"), text(args, "line"));
    }
    Ok("logged".into())
}

pub(crate) fn read(args: &Value) -> Answer {
    let bytes = workspace::read(text(args, "path"))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned().into())
}

pub(crate) fn glob(args: &Value) -> Answer {
    Ok(json!(workspace::glob(text(args, "pattern"))?))
}

pub(crate) fn grep(args: &Value) -> Answer {
    let found = workspace::grep(text(args, "pattern"), text(args, "files"))?;
    Ok(found.into_iter().map(|found| json!([found.path, found.line, found.text])).collect())
}

pub(crate) fn propose(args: &Value) -> Answer {
    workspace::propose_edit(text(args, "path"), text(args, "content").as_bytes())?;
    Ok("proposed".into())
}

pub(crate) fn editor(_: &Value) -> Answer {
    let parse = |text: String| serde_json::from_str::<Value>(&text).expect("the host's JSON");
    Ok(json!({
        "diagnostics": parse(editor::diagnostics()?),
        "open": parse(editor::open_documents()?),
        "selection": parse(editor::selection()?),
    }))
}

pub(crate) fn exec(args: &Value) -> Answer {
    let timeout_ms = args["timeout_ms"].as_u64().unwrap_or(20_000) as u32;
    let outcome = exec::run(text(args, "command"), timeout_ms)?;
    Ok(json!({"code": outcome.exit_code, "output": outcome.output, "cut": outcome.cut}))
}

pub(crate) fn http(args: &Value) -> Answer {
    let pairs = args["headers"].as_object().into_iter().flatten();
    let headers = pairs.map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned()));
    let request = http::Request {
        method: Some(text(args, "method")).filter(|method| !method.is_empty()).unwrap_or("GET").to_owned(),
        url: text(args, "url").to_owned(),
        headers: headers.collect(),
        body: text(args, "body").into(),
    };
    let response = http::send(&request)?;
    let body = String::from_utf8_lossy(&response.body).into_owned();
    Ok(json!({"status": response.status, "headers": response.headers, "body": body}))
}

pub(crate) fn kv_set(args: &Value) -> Answer {
    let value = match args["bytes"].as_u64() {
        Some(bytes) => vec![b'x'; bytes as usize],
        None => text(args, "value").into(),
    };
    kv::set(text(args, "key"), &value)?;
    Ok("kept".into())
}

pub(crate) fn kv_get(args: &Value) -> Answer {
    Ok(match kv::get(text(args, "key"))? {
        Some(value) => String::from_utf8_lossy(&value).into_owned().into(),
        None => Value::Null,
    })
}

pub(crate) fn kv_delete(args: &Value) -> Answer {
    kv::delete(text(args, "key"))?;
    Ok("gone".into())
}

pub(crate) fn kv_list(args: &Value) -> Answer {
    Ok(json!(kv::list(text(args, "prefix"))?))
}

/// All that it can see of what surrounds it.
pub(crate) fn everything(args: &Value) -> Answer {
    let files = files(args)?;
    Ok(json!({
        "arguments": std::env::args().collect::<Vec<_>>(),
        "environment": std::env::vars().collect::<Vec<_>>(),
        "directory": std::env::current_dir().map(|path| path.display().to_string()).ok(),
        "files": files,
        "config": run::config(),
        "kv": kv::list("").unwrap_or_default(),
        "answer": http(args).unwrap_or_default(),
    }))
}

/// Files, which it has none of.
pub(crate) fn files(_: &Value) -> Answer {
    let said = |result: std::io::Result<String>| match result {
        Ok(text) => format!("reached: {text}"),
        Err(error) => format!("refused: {error}"),
    };
    let names = |folder: &str| -> std::io::Result<String> {
        let entries = std::fs::read_dir(folder)?.flatten();
        Ok(entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect())
    };
    Ok(json!([
        said(std::fs::read_to_string("/etc/passwd")),
        said(std::fs::read_to_string("../../../../etc/passwd")),
        said(std::fs::read_to_string("/proc/self/environ")),
        said(names("/")),
        said(names(".")),
        said(std::fs::write("/tmp/probe", "x").map(|()| String::new())),
        said(std::fs::create_dir("/tmp/probe-dir").map(|()| String::new())),
    ]))
}

/// Sockets, which it has none of either.
pub(crate) fn sockets(args: &Value) -> Answer {
    let said = |result: std::io::Result<()>| match result {
        Ok(()) => "reached".to_owned(),
        Err(error) => format!("refused: {error}"),
    };
    let address = text(args, "address");
    Ok(json!([
        said(TcpStream::connect(address).map(drop)),
        said(TcpListener::bind("127.0.0.1:0").map(drop)),
        said(UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.send_to(b"x", address)).map(drop)),
        said("localhost:80".to_socket_addrs().map(drop)),
    ]))
}
