//! An image instead of the host's tools: from the user's own configuration, and never pulled.

use crate::sandboxed::{bash, call, podman, ready, refused};
use crate::world::configured;
use airlock_tests::editor::EditorOptions;
use airlock_tests::image::ImageTar;
use airlock_tests::ordinary_user::OrdinaryUser;
use airlock_tests::scripted_claude::ScriptedClaude;
use pretty_assertions::assert_eq;
use serde_json::json;

/// An image in podman's storage. It goes with this.
struct Image(String);

impl Image {
    fn import(tar: &ImageTar, name: &str) -> Self {
        let name = format!("localhost/airlock-test-{name}-{}:1", std::process::id());
        podman(&[&["import"], &CHANGES[..], &[tar.path().to_str().unwrap(), &name]].concat());
        Self(name)
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        // A failed test may have left a container of it.
        let _ = std::process::Command::new("podman").args(["rmi", "--force", &self.0]).output();
    }
}

/// What an image may say that must not count, and a variable that must.
const CHANGES: [&str; 12] = [
    "--change",
    "ENTRYPOINT [\"/bin/nonsense\"]",
    "--change",
    "CMD [\"nonsense\"]",
    "--change",
    "USER root",
    "--change",
    "VOLUME /kept",
    "--change",
    "WORKDIR /nowhere",
    "--change",
    "ENV OF_THE_IMAGE=yes",
];

const LOOK: &str = "cat /made-by-the-test; ls /usr/bin/python3; echo $OF_THE_IMAGE; id -u; pwd; cat a.txt; \
                    echo x > b.txt; echo x > /.airlock-guest";

fn assert_is_of_the_image(result: &str) {
    assert!(result.starts_with("a marker\nyes\n1000\n/workspace\nas it was\n[stderr]\n"), "{result}");
    assert!(result.contains("/usr/bin/python3': No such file"), "the host's tools are not there: {result}");
    assert!(result.contains("/.airlock-guest: Read-only file system"), "{result}");
}

#[tokio::test]
async fn an_image_of_the_users_choice_brings_its_own_tools() {
    let (claude, image) = (ScriptedClaude::start().await, Image::import(&ImageTar::new(), "tools"));
    let home = configured(&format!("image = \"{}\"", image.0));
    home.write("a.txt", "as it was\n");
    let volumes = podman(&["volume", "ls", "--quiet"]);
    let editor = ready(EditorOptions::new(&claude).home(&home)).await;
    let session = editor.new_session().await;
    let called = bash(&editor, &claude, &session, LOOK).await;
    assert_eq!(called.isolation(), "container");
    assert_eq!(called.told_when("starting"), format!("podman prepares the image {} for it", image.0));
    assert_is_of_the_image(&called.result);
    let read = call(&editor, &claude, &session, "read_file", json!({"path": "b.txt"})).await;
    assert_eq!(read.result, "     1\tx\n");
    assert!(!home.workspace().join("b.txt").exists());
    editor.shutdown().await;
    assert_eq!(podman(&["volume", "ls", "--quiet"]), volumes, "no volume is left");
    claude.finish();
}

#[tokio::test]
async fn an_image_works_for_an_ordinary_user() {
    let (claude, user, tar) = (ScriptedClaude::start().await, OrdinaryUser::get(), ImageTar::new());
    let home = user.home();
    home.write("a.txt", "as it was\n");
    let config = home.config().join("airlock");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("config.toml"), "image = \"localhost/tools:1\"").unwrap();
    user.take_over(home.path());
    user.podman(
        &home,
        &[&["import"], &CHANGES[..], &[tar.path().to_str().unwrap(), "localhost/tools:1"]].concat(),
    );
    let editor = ready(EditorOptions::new(&claude).user(user, &home)).await;
    let session = editor.new_session().await;
    assert_is_of_the_image(&bash(&editor, &claude, &session, LOOK).await.result);
    editor.shutdown().await;
    claude.finish();
}

#[tokio::test]
async fn an_image_that_is_not_there_is_not_pulled_but_the_command_for_it_is_told() {
    let claude = ScriptedClaude::start().await;
    let home = configured("image = \"localhost/nobody/nothing:7\"");
    let told = refused(EditorOptions::new(&claude).home(&home), &claude).await;
    assert!(told.contains("there is no image \"localhost/nobody/nothing:7\" here"), "{told}");
    assert!(told.contains("run `podman pull localhost/nobody/nothing:7`"), "{told}");
    claude.finish();
}

#[tokio::test]
async fn an_image_without_bash_says_so_and_its_files_can_be_worked_on() {
    let (claude, image) = (ScriptedClaude::start().await, Image::import(&ImageTar::without_bash(), "bare"));
    let home = configured(&format!("image = \"{}\"", image.0));
    home.write("a.txt", "as it was\n");
    let editor = ready(EditorOptions::new(&claude).home(&home)).await;
    let session = editor.new_session().await;
    let called = bash(&editor, &claude, &session, "echo hello").await;
    assert!(
        called.is_error && called.result.starts_with("there is no bash in the sandbox"),
        "{}",
        called.result
    );
    let read = call(&editor, &claude, &session, "read_file", json!({"path": "a.txt"})).await;
    assert_eq!(read.result, "     1\tas it was\n");
    editor.shutdown().await;
    claude.finish();
}
