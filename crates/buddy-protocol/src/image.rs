//! Images that users attach and models see.
//!
//! The log holds each image whole, as base64 text, so that the log alone is a complete record. All copies of
//! an item in a process share the text, since it is large and never changes.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The maximum number of images in one prompt.
pub const MAX_IMAGES: usize = 20;

/// The maximum size of an image file in bytes.
pub const MAX_IMAGE_BYTES: usize = 20 * 1024 * 1024;

/// The maximum size in bytes of all files of one prompt together.
pub const MAX_IMAGES_BYTES: usize = 60 * 1024 * 1024;

/// A file that a user attaches to a prompt. The agent detects its type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Attachment {
    /// The name, for users and for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The bytes of the file.
    pub data: Base64,
}

/// An image in a session, in a format and size that models accept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Image {
    /// The name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The format.
    pub media_type: ImageType,
    /// The width in pixels.
    pub width: u32,
    /// The height in pixels.
    pub height: u32,
    /// The bytes of the file.
    pub data: Base64,
}

impl Image {
    /// The text that replaces the image where it cannot be shown.
    pub fn label(&self) -> String {
        let name = self.name.as_deref().unwrap_or("image");
        format!("{name}, {}×{}", self.width, self.height)
    }

    /// The whole image as a URL.
    pub fn data_url(&self) -> String {
        format!("data:{};base64,{}", self.media_type.name(), self.data.text())
    }
}

/// The formats that every provider accepts.
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
