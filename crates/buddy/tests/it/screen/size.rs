//! The windows that each scene is played in.

use buddy_testkit::model::Turn;

use super::Screen;

/// The size of a window, and what stored screens of it are called.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    pub(super) columns: u32,
    pub(super) rows: u32,
    name: &'static str,
}

impl Size {
    pub(super) const NARROW: Self = Self { columns: 40, rows: 15, name: "narrow" };
    pub(super) const USUAL: Self = Self { columns: 80, rows: 24, name: "usual" };
    pub(super) const ROOMY: Self = Self { columns: 100, rows: 30, name: "roomy" };
    pub(super) const WIDE: Self = Self { columns: 200, rows: 50, name: "wide" };

    /// A conversation in a trusted directory, in a window of this size.
    pub(super) async fn start(self, turns: impl IntoIterator<Item = Turn>) -> Screen {
        Screen::start(turns, self.columns, self.rows).await
    }

    /// Compares what is shown with the stored screen of the scene.
    #[track_caller]
    pub(super) fn check(self, scene: &str, shown: &str) {
        insta::assert_snapshot!(format!("{scene}_{}", self.name), shown);
    }
}

/// One test for each size of window, of each scene.
macro_rules! at_each_size {
    ($($scene:ident),+ $(,)?) => {
        $(mod $scene {
            use crate::screen::size::Size;

            #[tokio::test]
            async fn narrow() {
                super::$scene(Size::NARROW).await;
            }

            #[tokio::test]
            async fn usual() {
                super::$scene(Size::USUAL).await;
            }

            #[tokio::test]
            async fn roomy() {
                super::$scene(Size::ROOMY).await;
            }

            #[tokio::test]
            async fn wide() {
                super::$scene(Size::WIDE).await;
            }
        })+
    };
}

pub(super) use at_each_size;
