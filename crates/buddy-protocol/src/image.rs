//! Images that people give and models see.
//!
//! The log has them whole, as base64 text: whoever has the log has all that was said. The text is shared between all
//! copies of an item in a process, since it is large and never changes.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most images that one prompt may have.
pub const MAX_IMAGES: usize = 20;

/// The most bytes that a file with an image may have.
pub const MAX_IMAGE_BYTES: usize = 20 * 1024 * 1024;

/// The most bytes that all files of one prompt may have together.
pub const MAX_IMAGES_BYTES: usize = 60 * 1024 * 1024;

/// A file that a person gives with a prompt. What it is, the agent finds out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Attachment {
    /// What to call it, for people and for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The bytes of the file.
    pub data: Base64,
}

/// An image in a session, in a form and size that models take.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Image {
    /// What to call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it is.
    pub media_type: ImageType,
    /// How many pixels it is wide.
    pub width: u32,
    /// How many pixels it is high.
    pub height: u32,
    /// The bytes of the file.
    pub data: Base64,
}

impl Image {
    /// What stands for the image where it cannot be seen.
    pub fn label(&self) -> String {
        let name = self.name.as_deref().unwrap_or("image");
        format!("{name}, {}×{}", self.width, self.height)
    }

    /// The whole image as a URL.
    pub fn data_url(&self) -> String {
        format!("data:{};base64,{}", self.media_type.name(), self.data.text())
    }
}

/// What an image is: the kinds that every provider takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum ImageType {
    /// PNG.
    #[serde(rename = "image/png")]
    Png,
    /// JPEG.
    #[serde(rename = "image/jpeg")]
    Jpeg,
    /// GIF.
    #[serde(rename = "image/gif")]
    Gif,
    /// WebP.
    #[serde(rename = "image/webp")]
    Webp,
}

impl ImageType {
    /// The media type's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::Webp => "image/webp",
        }
    }
}

/// Bytes as base64 text, which is how every wire carries them. Copies share the text.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Base64(Arc<str>);

impl Base64 {
    /// The text.
    pub fn text(&self) -> &str {
        &self.0
    }
}

impl From<String> for Base64 {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl fmt::Debug for Base64 {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "base64 of {} characters", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_called_by_its_name_and_size_and_its_bytes_stay_out_of_logs() {
        let data = Base64::from("QUJD".to_owned());
        let image = Image { name: None, media_type: ImageType::Png, width: 3, height: 4, data };
        assert_eq!(image.label(), "image, 3×4");
        assert_eq!(image.data_url(), "data:image/png;base64,QUJD");
        assert!(!format!("{image:?}").contains("QUJD"), "{image:?}");
        let text = serde_json::to_string(&image).unwrap();
        assert_eq!(text, r#"{"media_type":"image/png","width":3,"height":4,"data":"QUJD"}"#);
        assert_eq!(serde_json::from_str::<Image>(&text).unwrap(), image);
    }
}
