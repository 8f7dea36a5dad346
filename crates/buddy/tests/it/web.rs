//! Web tools through the whole program: what a user allowed is fetched, and this machine is not.

use std::fs;

use buddy_testkit::model::turn;
use serde_json::json;

use crate::stage::Stage;

#[tokio::test]
async fn this_machine_is_not_fetched_from_unless_the_person_allowed_it() {
    for is_allowed in [false, true] {
        let stage = Stage::new([turn().text("Not yet.")]).await;
        let page = Stage::new([turn().text("x")]).await;
        let authority = page.server.url().trim_start_matches("http://").to_owned();
        let configuration = stage.home.path().join(".config/buddy");
        fs::create_dir_all(&configuration).unwrap();
        let allowed = if is_allowed { format!("\"{authority}\"") } else { String::new() };
        fs::write(configuration.join("buddy.toml"), format!("[web]\nallowed_hosts = [{allowed}]\n")).unwrap();
        let call = turn().call("fetch_url", json!({"url": format!("http://{authority}/v1/models")}));
        let stage = Stage { server: Stage::new([call, turn().text("Done.")]).await.server, home: stage.home };
        // The user names the host, so that nothing but its address speaks against it.
        stage.exec([&*format!("see http://{authority}/")]).run().await.expect_code(0);
        let result = &stage.results()[0];
        assert_eq!(result["ok"], json!(is_allowed), "{result:#}");
        assert_eq!(page.server.connections(), usize::from(is_allowed), "{result:#}");
        if is_allowed {
            assert!(result["result"]["status"].is_u64(), "{result:#}");
        } else {
            assert_eq!(result["error"]["code"], "refused", "{result:#}");
        }
    }
}
