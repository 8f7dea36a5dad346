//! Images as models take them: of a kind that every provider knows, not too large, and whole.
//!
//! Every image is decoded, whether it comes from a user or from a tool. A file that cannot be would be refused by the provider, and
//! with every later prompt again, since it is part of the conversation by then.

use std::io::Cursor;
use std::sync::{Mutex, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use buddy_protocol::{Attachment, Base64, Image, ImageType, MAX_IMAGE_BYTES};
use image::codecs::jpeg::JpegEncoder;
use image::imageops::FilterType;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits};

/// The longest side that models look at. Providers make larger images smaller, or refuse them.
const LONGEST_SIDE: u32 = 2_000;

/// The most bytes of a file that goes to a model. The strictest provider takes 5 MB as base64 text.
const MAX_BYTES: usize = 3_600_000;

/// The most bytes of all files of one prompt, so that all of them are seen together.
pub(crate) const MAX_TOGETHER: usize = 14_000_000;

/// The most pixels on one side that are decoded at all, against files that unpack to more than there is memory.
const MAX_SIDE: u32 = 20_000;

/// The most memory that decoding may take.
const MAX_MEMORY: u64 = 256 * 1024 * 1024;

/// How well a photograph is kept.
const QUALITY: u8 = 85;

/// Characters of a name that are kept.
const NAME: usize = 120;

static DECODING: Mutex<()> = Mutex::new(());

/// Why a file is no image that can be shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadImage {
    /// Its content is not base64.
    #[error("{name}: this is not base64")]
    NoBytes {
        /// The name of the file.
        name: String,
    },
    /// It is too large.
    #[error("{name}: the file has {bytes} bytes, {MAX_IMAGE_BYTES} are allowed")]
    TooLarge {
        /// The name of the file.
        name: String,
        /// Its size.
        bytes: usize,
    },
    /// It is of another kind.
    #[error("{name}: not an image of a kind that models see (PNG, JPEG, GIF, WebP)")]
    UnknownKind {
        /// The name of the file.
        name: String,
    },
    /// It cannot be read.
    #[error("{name}: the image cannot be read: {reason}")]
    Damaged {
        /// The name of the file.
        name: String,
        /// The reason in a few words.
        reason: String,
    },
}

/// The images of a prompt, which share what there is room for.
pub fn all_attached(attachments: Vec<Attachment>) -> Result<Vec<Image>, BadImage> {
    let most = MAX_BYTES.min(MAX_TOGETHER / attachments.len().max(1));
    attachments.into_iter().map(|attachment| attached(attachment, most)).collect()
}

fn attached(attachment: Attachment, most: usize) -> Result<Image, BadImage> {
    let Attachment { name, data } = attachment;
    let bytes =
        STANDARD.decode(data.text()).map_err(|_| BadImage::NoBytes { name: called(name.as_deref()) })?;
    within_bytes(name, &bytes, most)
}

/// The kind of a file, by its first bytes.
pub(crate) fn kind(bytes: &[u8]) -> Option<ImageType> {
    match image::guess_format(bytes).ok()? {
        ImageFormat::Png => Some(ImageType::Png),
        ImageFormat::Jpeg => Some(ImageType::Jpeg),
        ImageFormat::Gif => Some(ImageType::Gif),
        ImageFormat::WebP => Some(ImageType::Webp),
        _ => None,
    }
}

/// The image in a file, made smaller where it is larger than models look at.
pub(crate) fn fitted(name: Option<String>, bytes: &[u8]) -> Result<Image, BadImage> {
    within_bytes(name, bytes, MAX_BYTES)
}

fn within_bytes(name: Option<String>, bytes: &[u8], most: usize) -> Result<Image, BadImage> {
    // One at a time: each may take as much memory as there is to be taken.
    let _turn = DECODING.lock().unwrap_or_else(PoisonError::into_inner);
    let name = name.map(|name| plain(&name));
    let call = || called(name.as_deref());
    if bytes.len() > MAX_IMAGE_BYTES {
        return Err(BadImage::TooLarge { name: call(), bytes: bytes.len() });
    }
    let media_type = kind(bytes).ok_or_else(|| BadImage::UnknownKind { name: call() })?;
    let damaged = |error: image::ImageError| BadImage::Damaged { name: call(), reason: error.to_string() };
    let picture = decoded(bytes).map_err(damaged)?;
    if picture.width().max(picture.height()) <= LONGEST_SIDE && bytes.len() <= most {
        return Ok(whole(name, media_type, &picture, bytes));
    }
    let (media_type, picture, bytes) = shrunk(&picture, media_type, most).map_err(damaged)?;
    Ok(whole(name, media_type, &picture, &bytes))
}

fn whole(name: Option<String>, media_type: ImageType, picture: &DynamicImage, bytes: &[u8]) -> Image {
    let (width, height) = (picture.width(), picture.height());
    Image { name, media_type, width, height, data: Base64::from(STANDARD.encode(bytes)) }
}

/// The picture as it is to be looked at: cameras store it lying and say so beside it.
fn decoded(bytes: &[u8]) -> Result<DynamicImage, image::ImageError> {
    let mut limits = Limits::default();
    limits.max_image_width = Some(MAX_SIDE);
    limits.max_image_height = Some(MAX_SIDE);
    limits.max_alloc = Some(MAX_MEMORY);
    let mut reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format()?;
    reader.limits(limits.clone());
    let mut decoder = reader.into_decoder()?;
    limits.reserve(decoder.total_bytes())?;
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut picture = DynamicImage::from_decoder(decoder)?;
    picture.apply_orientation(orientation);
    Ok(picture)
}

/// The picture within the bounds. A drawing stays exact where it can; what is still too large becomes a photograph, and
/// then smaller until it fits.
fn shrunk(
    picture: &DynamicImage,
    media_type: ImageType,
    most: usize,
) -> Result<(ImageType, DynamicImage, Vec<u8>), image::ImageError> {
    let mut side = LONGEST_SIDE.min(picture.width().max(picture.height()));
    if media_type != ImageType::Jpeg {
        let smaller = within(picture, side);
        let mut bytes = Vec::new();
        smaller.write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png)?;
        if bytes.len() <= most {
            return Ok((ImageType::Png, smaller, bytes));
        }
    }
    loop {
        let smaller = DynamicImage::ImageRgb8(within(picture, side).into_rgb8());
        let mut bytes = Vec::new();
        smaller.write_with_encoder(JpegEncoder::new_with_quality(&mut bytes, QUALITY))?;
        if bytes.len() <= most || side <= 1 {
            return Ok((ImageType::Jpeg, smaller, bytes));
        }
        side /= 2;
    }
}

fn within(picture: &DynamicImage, side: u32) -> DynamicImage {
    if picture.width().max(picture.height()) <= side {
        return picture.clone();
    }
    picture.resize(side, side, FilterType::CatmullRom)
}

fn called(name: Option<&str>) -> String {
    name.map_or_else(|| "the image".to_owned(), plain)
}

/// A name that cannot be taken for anything else where it is shown.
fn plain(name: &str) -> String {
    name.chars().filter(|letter| !letter.is_control()).take(NAME).collect()
}

#[cfg(test)]
mod tests {
    use image::{Rgb, RgbImage};

    use super::*;

    fn written(picture: &RgbImage, format: ImageFormat) -> Vec<u8> {
        let mut bytes = Vec::new();
        picture.write_to(&mut Cursor::new(&mut bytes), format).unwrap();
        bytes
    }

    /// Noise, which no compression makes small.
    fn noise(width: u32, height: u32) -> RgbImage {
        let mut state: u32 = 7;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_be_bytes()[0]
        };
        RgbImage::from_fn(width, height, |_, _| Rgb([next(), next(), next()]))
    }

    fn bytes_of(image: &Image) -> Vec<u8> {
        STANDARD.decode(image.data.text()).unwrap()
    }

    #[test]
    fn what_fits_stays_as_it_is() {
        for (format, kind) in [
            (ImageFormat::Png, ImageType::Png),
            (ImageFormat::Jpeg, ImageType::Jpeg),
            (ImageFormat::Gif, ImageType::Gif),
            (ImageFormat::WebP, ImageType::Webp),
        ] {
            let bytes = written(&noise(30, 20), format);
            let image = fitted(Some("a".to_owned()), &bytes).unwrap();
            assert_eq!((image.media_type, image.width, image.height), (kind, 30, 20));
            assert_eq!(bytes_of(&image), bytes);
        }
    }

    #[test]
    fn a_large_drawing_gets_smaller_and_stays_exact() {
        let bytes = written(&RgbImage::from_pixel(4_000, 1_000, Rgb([9, 9, 9])), ImageFormat::Png);
        let image = fitted(None, &bytes).unwrap();
        assert_eq!((image.media_type, image.width, image.height), (ImageType::Png, 2_000, 500));
        let again = decoded(&bytes_of(&image)).unwrap();
        assert_eq!((again.width(), again.height()), (2_000, 500));
    }

    #[test]
    fn a_large_photograph_fits_in_the_end() {
        let bytes = written(&noise(2_100, 2_100), ImageFormat::Png);
        assert!(bytes.len() > MAX_BYTES);
        let image = fitted(None, &bytes).unwrap();
        assert_eq!(image.media_type, ImageType::Jpeg);
        let fitting = bytes_of(&image);
        assert!(fitting.len() <= MAX_BYTES, "{}", fitting.len());
        assert_eq!(decoded(&fitting).unwrap().width(), image.width);
    }

    #[test]
    fn many_images_share_the_room_of_one_prompt() {
        let file = STANDARD.encode(written(&noise(700, 700), ImageFormat::Png));
        let attachments = vec![Attachment { name: None, data: Base64::from(file) }; 14];
        let images = all_attached(attachments).unwrap();
        let together: usize = images.iter().map(|image| bytes_of(image).len()).sum();
        assert!(together <= MAX_TOGETHER, "{together}");
        assert!(images.iter().all(|image| image.width >= 300));
    }

    #[test]
    fn what_is_no_image_is_told_by_name() {
        let attachment = |data: &str| Attachment {
            name: Some("a\u{1b}b.png".to_owned()),
            data: Base64::from(data.to_owned()),
        };
        let told = |data: &str| all_attached(vec![attachment(data)]).unwrap_err().to_string();
        assert_eq!(told("!"), "ab.png: this is not base64");
        let text = told(&STANDARD.encode("hello"));
        assert_eq!(text, "ab.png: not an image of a kind that models see (PNG, JPEG, GIF, WebP)");
        let whole = written(&noise(30, 20), ImageFormat::Png);
        let cut = told(&STANDARD.encode(whole.get(..whole.len() / 2).unwrap()));
        assert!(cut.starts_with("ab.png: the image cannot be read: "), "{cut}");
    }

    #[test]
    fn a_file_that_would_fill_the_memory_is_refused() {
        // PNGs that say that they are so wide and high, in 16 bits with a mask: a header, a little content, and an end.
        for side in [60_000_u32, 19_000] {
            let mut header = b"IHDR".to_vec();
            header.extend(side.to_be_bytes());
            header.extend(side.to_be_bytes());
            header.extend(b"\x10\x06\0\0\0");
            let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
            for chunk in [header, b"IDAT\x78\x01".to_vec(), b"IEND".to_vec()] {
                let length = u32::try_from(chunk.len()).unwrap() - 4;
                bytes.extend(length.to_be_bytes());
                bytes.extend(&chunk);
                bytes.extend(crc(&chunk).to_be_bytes());
            }
            let refused = fitted(None, &bytes).unwrap_err().to_string();
            assert!(refused.contains("imit"), "{side}: {refused}");
        }
    }

    fn crc(bytes: &[u8]) -> u32 {
        let mut sum = u32::MAX;
        for byte in bytes {
            sum ^= u32::from(*byte);
            for _ in 0..8 {
                sum = if sum & 1 == 1 { (sum >> 1) ^ 0xedb8_8320 } else { sum >> 1 };
            }
        }
        !sum
    }

    #[test]
    fn a_photograph_that_was_stored_lying_stands_up_when_it_is_made_smaller() {
        let picture = RgbImage::from_pixel(3_000, 1_500, Rgb([200, 30, 30]));
        let plain = written(&picture, ImageFormat::Jpeg);
        // An Exif block that says: turn by 90 degrees.
        let exif =
            b"\xff\xe1\x00\x22Exif\0\0MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";
        let mut bytes = plain.get(..2).unwrap().to_vec();
        bytes.extend_from_slice(exif);
        bytes.extend_from_slice(plain.get(2..).unwrap());
        let image = fitted(None, &bytes).unwrap();
        assert_eq!((image.width, image.height), (1_000, 2_000));
    }
}
