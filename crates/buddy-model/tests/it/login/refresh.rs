//! Refresh and revocation.

use std::time::Duration;

use buddy_model::{
    LoginErrorKind, LoginProvider, LoginTiming, ModelError, ModelErrorKind, Revocation, Tokens,
};
use buddy_testkit::oauth::{OAuthScript, OAuthServer, Rotation, TokenFault};
use secrecy::ExposeSecret;

use super::{login, provider, stage, without_secrets};

fn tokens(server: &OAuthServer) -> Tokens {
    let (access, refresh) = server.grant();
    Tokens {
        access: access.into(),
        refresh: Some(refresh.into()),
        expires_at: None,
        scope: None,
        account: None,
        account_id: None,
    }
}

#[tokio::test]
async fn a_rotated_token_takes_the_place_of_the_old_one() {
    let (server, login) = stage(OAuthScript::default()).await;
    let old = tokens(&server).refresh.unwrap();
    let new = login.refresh(&old).await.unwrap();
    assert_ne!(new.refresh.as_ref().unwrap().expose_secret(), old.expose_secret());
    let error = login.refresh(&old).await.unwrap_err();
    assert_eq!(error.kind, LoginErrorKind::Refused);
    assert_eq!(
        login.refresh(&new.refresh.unwrap()).await.unwrap_err().kind,
        LoginErrorKind::Refused,
        "the family is gone"
    );
}

#[tokio::test]
async fn a_token_that_is_not_rotated_stays() {
    let (server, login) =
        stage(OAuthScript { rotation: Rotation::Off, token_life: None, ..OAuthScript::default() }).await;
    let old = tokens(&server).refresh.unwrap();
    let new = login.refresh(&old).await.unwrap();
    assert_eq!(new.refresh.unwrap().expose_secret(), old.expose_secret());
    assert_eq!(new.expires_at, None);
}

#[tokio::test]
async fn secrets_that_a_provider_echoes_are_masked() {
    let (server, login) =
        stage(OAuthScript { faults: vec![TokenFault::Echo], ..OAuthScript::default() }).await;
    let error = login.refresh(&tokens(&server).refresh.unwrap()).await.unwrap_err();
    assert!(error.message.contains("***"), "{error}");
    without_secrets(&server, &format!("{error} {error:?}"));
}

#[tokio::test]
async fn trouble_is_told_apart_from_a_refusal() {
    let faults = vec![TokenFault::Answer(502, "<html>".to_owned())];
    let (server, login) =
        stage(OAuthScript { faults, delay: Duration::from_millis(300), ..OAuthScript::default() }).await;
    let refresh = tokens(&server).refresh.unwrap();
    let error: ModelError = login.refresh(&refresh).await.unwrap_err().into();
    assert_eq!((error.kind, error.is_transient()), (ModelErrorKind::Transport, true));
    let hasty = LoginTiming { request: Duration::from_millis(20), ..LoginTiming::default() };
    let error = login.with_timing(hasty).refresh(&refresh).await.unwrap_err();
    assert_eq!(error.kind, LoginErrorKind::Transport);
    assert!(error.message.ends_with("did not answer in time"), "{error}");
}

#[tokio::test]
async fn tokens_are_given_back_where_that_can_be_done() {
    let (server, login_) = stage(OAuthScript::default()).await;
    assert_eq!(login_.revoke(&tokens(&server)).await, Ok(Revocation::Done));
    assert_eq!(server.live_logins(), 0);
    let only_access = Tokens { refresh: None, ..tokens(&server) };
    assert_eq!(login_.revoke(&only_access).await, Ok(Revocation::Done));
    let hints: Vec<_> =
        server.requests().iter().map(|request| request.fields["token_type_hint"].clone()).collect();
    assert_eq!(hints, ["refresh_token", "access_token"]);
    let without = login(LoginProvider { revoke_url: None, ..provider(&server) });
    assert_eq!(without.revoke(&tokens(&server)).await, Ok(Revocation::NotOffered));
}
