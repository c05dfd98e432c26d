//! The laws of configuration, on real files.

use super::*;
use crate::limits;
use crate::paths::WorkspaceRoot;
use crate::storage::replace;
use crate::trust::{TrustStore, TrustedWorkspace, survey};
use pretty_assertions::assert_eq;

/// What a configuration file and variables give, the problems as text without the folder's name.
fn load_from(config: &str, variables: &[(&str, &str)]) -> (Settings, Vec<String>) {
    let home = tempfile::tempdir().unwrap();
    let environment = Environment::for_test(home.path(), variables);
    replace(&user_file(&environment), config.as_bytes()).unwrap();
    let (settings, problems) = load(&environment);
    (settings, texts(&problems, &home))
}

fn texts(problems: &[Problem], home: &tempfile::TempDir) -> Vec<String> {
    let root = home.path().canonicalize().unwrap();
    problems.iter().map(|problem| problem.to_string().replace(root.to_str().unwrap(), "HOME")).collect()
}

const EVERYTHING: &str = r#"
api_key = "sk-file"
base_url = "http://localhost:1/"
image = "localhost/tools:1"
isolation = "container"
max_rounds = 5
max_session_cost_usd = 2
max_session_disk_gib = 8
max_session_tokens = 1000
max_tokens = 100
model = "from-file"
permission_timeout_s = 7
protected = ["deploy/*.sh"]
retries = 0
safedir = "/w"
stream_silence_s = 9
thinking = "off"
use_sandbox = false
[prices.from-file]
input = 3
output = 15.0
cache_read = 0.3
cache_write = 3.75
[forges."https://github.com"]
token = "ghp-file"
[plugins.issues.secrets]
TOKEN = "of-a-plugin"
[plugins.issues.config]
depth = 3
since = 2026-01-02
names = ["a", { b = 1.5 }]
"#;

#[test]
fn without_configuration_there_are_defaults_and_no_problems() {
    let home = tempfile::tempdir().unwrap();
    let (settings, problems) = load(&Environment::for_test(home.path(), &[]));
    assert_eq!(problems, []);
    assert!(settings == Settings::default());
    assert_eq!(settings.stream_silence_s, 60);
    assert_eq!(settings.max_rounds, limits::TURN_ROUNDS_MAX);
}

#[test]
fn every_key_of_the_file_is_used() {
    let (settings, problems) = load_from(EVERYTHING, &[]);
    assert_eq!(problems, [""; 0]);
    assert!(user::KEYS.iter().all(|key| EVERYTHING.contains(key)));
    assert!(settings.api_key.is_some_and(|key| key.expose() == "sk-file"));
    assert_eq!(settings.base_url.as_deref(), Ok("http://localhost:1"));
    assert_eq!(settings.image.as_deref(), Some("localhost/tools:1"));
    assert_eq!(settings.isolation, IsolationWish::Container);
    assert_eq!(settings.max_rounds, 5);
    assert_eq!(settings.max_session_cost_usd, Some(2.0));
    assert_eq!(settings.max_session_tokens, Some(1000));
    assert_eq!(settings.max_session_disk_gib, 8);
    assert_eq!(settings.max_tokens, 100);
    assert_eq!(settings.model, "from-file");
    assert_eq!(settings.permission_timeout_s, 7);
    assert!(settings.protected.have("sub/deploy/a.sh"));
    assert_eq!(settings.retries, 0);
    assert_eq!(settings.safedir, Some("/w".into()));
    assert_eq!(settings.stream_silence_s, 9);
    assert_eq!(settings.thinking, Thinking::Off);
    assert!(!settings.use_sandbox);
    assert_eq!(settings.prices["from-file"].cache_write, 3.75);
    assert_eq!(settings.prices["from-file"].input, 3.0);
    assert_eq!(settings.forges["https://github.com"].api, "https://api.github.com");
    assert_eq!(settings.forges["https://github.com"].token.expose(), "ghp-file");
    let plugin = &settings.plugins["issues"];
    assert_eq!(plugin.secrets["TOKEN"].expose(), "of-a-plugin");
    let config = serde_json::json!({"depth": 3, "since": "2026-01-02", "names": ["a", {"b": 1.5}]});
    assert_eq!(plugin.config, config);
}

#[test]
fn a_mistake_in_a_plugins_settings_names_it_and_shows_no_secret() {
    let (settings, problems) = load_from(
        "[plugins.one]\nsecret = { TOKEN = \"hunter2\" }\n[plugins.two.secrets]\nTOKEN = \"hunter2 x\"\n\
         [plugins.three]\nconfig = \"hunter2\"\n[plugins.four.config]\na = 1\n",
        &[],
    );
    assert_eq!(settings.plugins.keys().collect::<Vec<_>>(), ["four"]);
    assert_eq!(problems.len(), 3, "{problems:#?}");
    assert!(problems.iter().all(|problem| !problem.contains("hunter2")), "{problems:#?}");
    assert!(problems[0].contains("plugins.one") && problems[0].contains("secrets"), "{problems:#?}");
}

#[test]
fn a_forge_is_known_by_its_origin_and_one_with_a_mistake_is_left_out_without_showing_its_token() {
    let (settings, problems) = load_from(
        "[forges.\"https://git.example:3000/\"]\nkind = \"gitea\"\ntoken = \"t\"\n\
         [forges.\"https://ghe.example\"]\nkind = \"github\"\ntoken = \"t\"\n\
         [forges.\"http://127.0.0.1:1\"]\nkind = \"gitea\"\ntoken = \"t\"\napi = \"http://127.0.0.1:2/x/\"\n\
         [forges.\"https://who.example\"]\ntoken = \"hunter2\"\n\
         [forges.\"https://github.com\"]\ntokn = \"hunter2\"\n\
         [forges.\"https://hunter2@codeberg.org\"]\ntoken = \"hunter2\"\n\
         [forges.\"https://gitea.com\"]\ntoken = \"hunter2 \\u00e9\"\n",
        &[],
    );
    let apis: Vec<_> =
        settings.forges.iter().map(|(key, forge)| (key.as_str(), forge.api.as_str())).collect();
    let expected = [
        ("http://127.0.0.1:1", "http://127.0.0.1:2/x"),
        ("https://ghe.example", "https://ghe.example/api/v3"),
        ("https://git.example:3000", "https://git.example:3000/api/v1"),
    ];
    assert_eq!(apis, expected);
    assert_eq!(problems.len(), 4, "{problems:#?}");
    assert!(problems.iter().all(|problem| !problem.contains("hunter2")), "{problems:#?}");
}

#[test]
fn variables_win_over_the_file() {
    let variables = [
        ("ANTHROPIC_API_KEY", " sk-env\n"),
        ("ANTHROPIC_BASE_URL", "https://e.example/"),
        ("MODEL", "from-env"),
        ("MAX_TOKENS", "7"),
        ("SAFEDIR", "/e"),
        ("USE_SANDBOX", "True"),
    ];
    let (settings, problems) = load_from(EVERYTHING, &variables);
    assert_eq!(problems, [""; 0]);
    assert!(settings.api_key.is_some_and(|key| key.expose() == "sk-env"));
    assert_eq!(settings.base_url.as_deref(), Ok("https://e.example"));
    assert_eq!(settings.model, "from-env");
    assert_eq!(settings.max_tokens, 7);
    assert_eq!(settings.safedir, Some("/e".into()));
    assert!(settings.use_sandbox);
}

#[test]
fn a_base_url_that_cannot_be_used_is_not_replaced_by_another() {
    let place = |file: &str, variables: &[(&str, &str)]| {
        let (settings, problems) = load_from(file, variables);
        settings.base_url.map_err(|problem| {
            assert!(!problems.is_empty(), "it is told as well");
            problem.place
        })
    };
    let variable = |value| [("ANTHROPIC_BASE_URL", value)];
    let in_variable = || Err(Place::Variable("ANTHROPIC_BASE_URL".to_owned()));
    for wrong in ["proxy.example", "ftp://proxy.example", " ", "https://u:p@proxy.example"] {
        assert_eq!(place("", &variable(wrong)), in_variable(), "{wrong}");
        assert_eq!(place("base_url = \"https://f.example\"", &variable(wrong)), in_variable(), "{wrong}");
    }
    for file in [
        "base_url = \"proxy.example\"",
        "base_url = 7",
        "base_ulr = \"https://proxy.example\"",
        "base_url = \"https://proxy.example",
    ] {
        assert!(place(file, &[]).is_err(), "{file}");
        let over = place(file, &variable("https://e.example"));
        assert_eq!(over.as_deref(), Ok("https://e.example"), "{file}");
    }
    assert_eq!(place("model = ", &[]).as_deref(), Ok("https://api.anthropic.com"));
}

#[test]
fn a_key_that_cannot_be_used_is_not_replaced_by_another() {
    let (settings, problems) = load_from("api_key = \"sk-file\"", &[("ANTHROPIC_API_KEY", "sk env")]);
    assert!(settings.api_key.is_none());
    assert_eq!(problems.len(), 1);
}

#[test]
fn a_relative_safedir_variable_begins_where_the_process_was_started() {
    let home = tempfile::tempdir().unwrap();
    let (settings, _) = load(&Environment::for_test(home.path(), &[("SAFEDIR", "w")]));
    assert_eq!(settings.safedir, Some(home.path().join("w")));
}

#[test]
fn an_invalid_variable_is_named_and_leaves_the_file_s_value_but_for_the_key_and_its_place() {
    let variables = [
        ("ANTHROPIC_API_KEY", "   "),
        ("ANTHROPIC_BASE_URL", "nonsense"),
        ("MODEL", "two words"),
        ("MAX_TOKENS", "-1"),
        ("USE_SANDBOX", "perhaps"),
    ];
    let (settings, problems) = load_from(EVERYTHING, &variables);
    assert!(settings.base_url.is_err() && settings.api_key.is_none());
    let file = load_from(EVERYTHING, &[]).0;
    let (api_key, base_url) = (file.api_key.clone(), file.base_url.clone());
    assert!(Settings { api_key, base_url, ..settings } == file);
    assert_eq!(problems.len(), variables.len());
    for ((name, _), problem) in variables.iter().zip(problems) {
        assert!(problem.starts_with(&format!("environment variable {name}: ")), "{problem}");
    }
}

#[test]
fn a_bad_key_is_named_with_its_line_and_the_others_are_used() {
    let (settings, problems) = load_from(
        "max_token = 5\nmodel = \"good\"\nmax_rounds = \"ten\"\nretries = 101\nzzz = 1\nsafedir = \"here\"\n\
         isolation = \"micorvm\"\nprices = 3",
        &[],
    );
    assert_eq!(settings.model, "good");
    assert_eq!(settings.isolation, IsolationWish::Microvm);
    let expected = [
        "1: max_token: there is no such key; did you mean max_tokens?",
        "3: max_rounds: expected a whole number, found text; give a whole number, without quotes",
        "4: retries: this is not a number in its range; give a whole number from 0 to 100",
        "5: zzz: there is no such key; remove it; there are api_key, base_url, forges, image, isolation, max_rounds, \
         max_session_cost_usd, max_session_disk_gib, max_session_tokens, max_tokens, model, permission_timeout_s, plugins, prices, protected, \
         retries, safedir, stream_silence_s, thinking, use_sandbox",
        "6: safedir: this is not an absolute path; give the whole path, from / on",
        "7: isolation: this is no kind of isolation; give \"auto\", \"microvm\" or \"container\"; until then \
         nothing but a microVM is used",
        "8: prices: expected a table, found a number; write [prices.\"MODEL\"], and below it input, output, \
         cache_read and cache_write",
    ];
    assert_eq!(problems, expected.map(|text| format!("HOME/config/config.toml:{text}")));
}

#[test]
fn a_mistake_in_prices_costs_only_that_model_its_prices() {
    let good = "input = 1\noutput = 1\ncache_read = 1\ncache_write = 1\n";
    let (settings, problems) = load_from(
        &format!(
            "[prices.a]\ninput = 1\n[prices.b]\n{good}[prices.c]\n{good}model = \"x\"\n[prices.d]\ninptu = 1\n[prices]\ne = 1"
        ),
        &[],
    );
    assert_eq!(settings.prices.keys().collect::<Vec<_>>(), ["b"]);
    let starts = [
        "1: prices.a: output is missing; ",
        "13: prices.c.model: this key is no price; move it above the first line in [brackets]",
        "15: prices.d.inptu: there is no such key; did you mean input?",
        "17: prices.e: expected a table, found a number",
    ];
    assert_eq!(problems.len(), starts.len(), "{problems:#?}");
    for (problem, start) in problems.iter().zip(starts) {
        assert!(problem.starts_with(&format!("HOME/config/config.toml:{start}")), "{problem}");
    }
}

#[test]
fn a_file_that_does_not_parse_gives_defaults_and_does_not_show_the_key() {
    for broken in ["model = \"x\"\napi_key = sk-secret", "api_key = \"sk-secret", "[sk-secret\n", "a=1\na=2"]
    {
        let (settings, problems) = load_from(broken, &[]);
        assert!(settings == Settings::default());
        assert_eq!(problems.len(), 1);
        assert!(problems[0].contains("config.toml:") && problems[0].contains("not TOML"), "{problems:?}");
        assert!(!problems[0].contains("secret"), "{problems:?}");
    }
}

#[test]
fn no_slip_anywhere_in_the_file_weakens_the_wall_or_sends_requests_elsewhere() {
    for slip in [
        "isolation = \"microvm\"\nbase_url = \"http://127.0.0.1:1\"\nmodel = oops",
        "isolaton = \"microvm\"\nbaseurl = \"http://127.0.0.1:1\"",
        "[prices.\"m\"]\ninput = 1\nisolation = \"microvm\"\nbase_url = \"http://127.0.0.1:1\"",
        "[forges]\nisolation = \"microvm\"\n\"base_url\" = \"http://127.0.0.1:1\"",
    ] {
        let (settings, problems) = load_from(slip, &[]);
        assert_eq!(settings.isolation, IsolationWish::Microvm, "{slip}");
        assert!(settings.base_url.is_err(), "{slip}");
        assert!(!problems.is_empty(), "{slip}");
    }
    for honest in [
        "# isolation = \"microvm\"\nmodel = \"x\"",
        "[plugins.issues.settings]\nisolation = \"high\"\nbase_url = \"x\"",
    ] {
        let (settings, _) = load_from(honest, &[]);
        assert_eq!(settings.isolation, IsolationWish::Auto, "{honest}");
        assert!(settings.base_url.is_ok(), "{honest}");
    }
}

#[test]
fn a_file_that_cannot_be_read_gives_defaults() {
    let home = tempfile::tempdir().unwrap();
    let environment = Environment::for_test(home.path(), &[("MODEL", "m")]);
    replace(&user_file(&environment), &vec![b'#'; limits::CONFIG_FILE_MAX_BYTES + 1]).unwrap();
    let (settings, problems) = load(&environment);
    assert_eq!((settings.model.as_str(), problems.len()), ("m", 1));
    replace(&user_file(&environment), b"\xff").unwrap();
    assert!(load(&environment).1[0].to_string().contains("not UTF-8"));
}

fn trusted(config: &str) -> (tempfile::TempDir, TrustedWorkspace) {
    let home = tempfile::tempdir().unwrap();
    replace(&home.path().join("w").join(WORKSPACE_CONFIG), config.as_bytes()).unwrap();
    let root = WorkspaceRoot::open(&home.path().join("w")).unwrap();
    let store = TrustStore::new(&Environment::for_test(home.path(), &[]));
    let workspace = store.trust(&root, &survey(&root).unwrap()).unwrap();
    (home, workspace)
}

fn narrow(config: &str, user: &Settings) -> (Settings, Vec<String>) {
    let (home, workspace) = trusted(config);
    let (settings, problems) = WorkspaceSettings::load(&workspace, user);
    (user.narrowed_by(&settings), texts(&problems, &home))
}

#[test]
fn a_workspace_chooses_its_model_and_narrows_limits() {
    let config = "model = \"m\"\nmax_tokens = 9\nmax_rounds = 3\nmax_session_tokens = 5\n\
                  max_session_cost_usd = 0.5\nisolation = \"microvm\"";
    let user = Settings { max_session_tokens: Some(6), ..Settings::default() };
    let (settings, problems) = narrow(config, &user);
    assert_eq!(problems, [""; 0]);
    let expected = Settings {
        model: "m".to_owned(),
        max_tokens: 9,
        max_rounds: 3,
        max_session_tokens: Some(5),
        max_session_cost_usd: Some(0.5),
        isolation: IsolationWish::Microvm,
        ..user
    };
    assert!(settings == expected);
}

#[test]
fn a_workspace_never_widens_what_the_user_allowed() {
    let user = Settings {
        max_session_tokens: Some(6),
        max_session_cost_usd: Some(1.0),
        isolation: IsolationWish::Microvm,
        ..Settings::default()
    };
    let config = EVERYTHING.replace("max_rounds = 5", "max_rounds = 101");
    let (settings, problems) = narrow(&config, &user);
    let expected = Settings { model: "from-file".to_owned(), max_tokens: 100, ..user };
    assert!(settings == expected);
    assert_eq!(problems.len(), user::KEYS.len() - 2, "{problems:#?}");
    assert_eq!(
        problems[..5],
        [
            "2: api_key: a workspace may not set this; remove it; if you want it, set it in your own config.toml",
            "3: base_url: a workspace may not set this; remove it; if you want it, set it in your own config.toml",
            "4: image: a workspace may not set this; remove it; if you want it, set it in your own config.toml",
            "5: isolation: a workspace may not change your isolation \"microvm\" to this; remove it; a workspace \
             may only ask for \"microvm\"",
            "6: max_rounds: a workspace may not raise your limit of 100; lower it or remove it",
        ]
        .map(|text| format!("HOME/w/.airlock/config.toml:{text}"))
    );
}

#[test]
fn isolation_of_a_workspace_only_gets_stronger() {
    use IsolationWish::{Auto, Container, Microvm};
    for (users, asked, expected, problems) in [
        (Auto, "microvm", Microvm, 0),
        (Container, "microvm", Microvm, 0),
        (Auto, "auto", Auto, 0),
        (Auto, "container", Auto, 1),
        (Microvm, "auto", Microvm, 1),
        (Microvm, "container", Microvm, 1),
    ] {
        let user = Settings { isolation: users, ..Settings::default() };
        let (settings, found) = narrow(&format!("isolation = {asked:?}"), &user);
        assert_eq!((settings.isolation, found.len()), (expected, problems), "{users:?} {asked}");
    }
}

#[test]
fn a_broken_or_changed_workspace_file_is_left_out() {
    let (settings, problems) = narrow("model = ", &Settings::default());
    assert!(settings == Settings::default());
    assert_eq!(problems.len(), 1);

    let (home, workspace) = trusted("model = \"m\"");
    replace(&home.path().join("w").join(WORKSPACE_CONFIG), b"model = \"evil\"").unwrap();
    let (settings, problems) = WorkspaceSettings::load(&workspace, &Settings::default());
    assert_eq!(settings, WorkspaceSettings::default());
    assert!(problems[0].to_string().contains("changed since"));
}
