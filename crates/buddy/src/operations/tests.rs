//! The operations as principals ask for them.

mod client_calls;
mod refusals;

use super::*;
use crate::config::ConfigRequest;
use crate::environment::Environment;

#[tokio::test]
async fn the_error_of_work_in_parts_comes_after_its_parts() {
    let (sender, parts) = mpsc::channel(STREAM_QUEUE);
    let failed = OperationError::new(OperationErrorCode::Failed, "it broke off");
    let error = failed.clone();
    let work = async move {
        for part in 0..3 {
            sender.send(part).await.unwrap();
        }
        Err(error)
    };
    let mut parted = PartedWork { work: Some(Box::pin(work)), parts, error: None };
    for part in 0..3 {
        assert_eq!(parted.next().await, Some(Ok(part)));
    }
    assert_eq!(parted.next().await, Some(Err(failed)));
    assert_eq!(parted.next().await, None);
}

fn operations(data: &std::path::Path) -> HomeOperations {
    let variable = ("BUDDY_HOME".to_owned(), data.display().to_string());
    HomeOperations::new(OperationPlace {
        owner: Principal::person("ann"),
        environment: Environment::of([variable].into()).unwrap(),
        request: ConfigRequest::default(),
        cwd: data.to_owned(),
        model: None,
        conversation: None,
    })
}
