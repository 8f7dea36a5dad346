//! Images on a terminal that can show them.
//!
//! A picture stands on rows of its own, which are empty but for it. It is drawn from the last of them, when all are there, and
//! leaves the cursor where it was, so that nobody's count of rows goes wrong.

use std::fmt::Write;
use std::io::Cursor;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use buddy_protocol::Image;
use image::{ImageFormat, ImageReader, Limits};

/// The most columns and rows that a picture takes.
const MAX_COLUMNS: u32 = 60;
const MAX_ROWS: u32 = 14;
/// About how many pixels a cell has. Pictures get smaller, and never larger than they are.
const CELL_WIDTH: u32 = 10;
const CELL_HEIGHT: u32 = 20;
/// How many pixels are sent for each of those, as screens have more of them than they say.
const DENSITY: u32 = 2;
/// The most pixels on one side that are decoded at all.
const MAX_SIDE: u32 = 20_000;
/// The most memory that decoding may take.
const MAX_MEMORY: u64 = 64 * 1024 * 1024;
/// How much of a picture goes in one piece.
const PIECE: usize = 4096;

/// How a terminal takes images.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Pictures {
    /// Not at all.
    #[default]
    None,
    /// By the protocol of kitty, which Ghostty and Konsole know too.
    Kitty,
    /// By the one of iTerm2, which `WezTerm` knows too.
    Iterm,
}

/// An image that is ready to be drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Picture {
    /// A PNG as base64 text, made here: it has nothing in it that steers a terminal.
    data: Arc<str>,
    columns: usize,
    rows: usize,
}

impl Picture {
    /// A picture of an image in so many columns. None where it cannot be read.
    pub(crate) fn of(image: &Image, width: usize) -> Option<Self> {
        let bytes = STANDARD.decode(image.data.text()).ok()?;
        let mut reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format().ok()?;
        let mut limits = Limits::default();
        limits.max_image_width = Some(MAX_SIDE);
        limits.max_image_height = Some(MAX_SIDE);
        limits.max_alloc = Some(MAX_MEMORY);
        reader.limits(limits);
        let whole = reader.decode().ok()?;
        let columns = u32::try_from(width).ok()?.min(MAX_COLUMNS);
        let (most_wide, most_high) = (columns * CELL_WIDTH, MAX_ROWS * CELL_HEIGHT);
        let is_large = whole.width() > most_wide || whole.height() > most_high;
        let small = if is_large { Some(whole.thumbnail(most_wide, most_high)) } else { None };
        let (wide, high) =
            small.as_ref().map_or((whole.width(), whole.height()), |small| (small.width(), small.height()));
        let sent = if whole.width() > most_wide * DENSITY || whole.height() > most_high * DENSITY {
            whole.thumbnail(most_wide * DENSITY, most_high * DENSITY)
        } else {
            whole
        };
        let mut png = Vec::new();
        sent.write_to(&mut Cursor::new(&mut png), ImageFormat::Png).ok()?;
        let cells = |pixels: u32, cell: u32| {
            usize::try_from((pixels + cell / 2) / cell).ok().map(|count| count.max(1))
        };
        let (columns, rows) = (cells(wide, CELL_WIDTH)?, cells(high, CELL_HEIGHT)?);
        Some(Self { data: STANDARD.encode(png).into(), columns, rows })
    }

    /// On how many rows it stands.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Draws it from the last of its rows.
    pub(crate) fn encode(&self, pictures: Pictures, out: &mut String) {
        let up = self.rows - 1;
        if pictures == Pictures::None {
            return;
        }
        out.push_str("\u{1b}7");
        if up > 0 {
            let _ = write!(out, "\u{1b}[{up}A");
        }
        match pictures {
            Pictures::Kitty => self.encode_kitty(out),
            Pictures::Iterm | Pictures::None => {
                let Self { data, columns, rows } = self;
                let _ = write!(
                    out,
                    "\u{1b}]1337;File=inline=1;width={columns};height={rows};preserveAspectRatio=1;doNotMoveCursor=1:{data}\u{7}"
                );
            }
        }
        out.push_str("\u{1b}8");
    }

    fn encode_kitty(&self, out: &mut String) {
        let mut rest: &str = &self.data;
        // Shown at once, as a PNG, on so many columns and rows, without moving the cursor and without an answer.
        let mut head = format!("a=T,f=100,c={},r={},C=1,q=2,", self.columns, self.rows);
        while !rest.is_empty() {
            let (piece, next) = rest.split_at(rest.len().min(PIECE));
            let more = u8::from(!next.is_empty());
            let _ = write!(out, "\u{1b}_G{head}m={more};{piece}\u{1b}\\");
            head.clear();
            rest = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use buddy_protocol::{Base64, ImageType};
    use image::RgbImage;

    use super::*;

    fn drawn(width: u32, height: u32) -> Image {
        let mut png = Vec::new();
        RgbImage::new(width, height).write_to(&mut Cursor::new(&mut png), ImageFormat::Png).unwrap();
        let data = Base64::from(STANDARD.encode(png));
        Image { name: None, media_type: ImageType::Png, width, height, data }
    }

    fn encoded(picture: &Picture, pictures: Pictures) -> String {
        let mut out = String::new();
        picture.encode(pictures, &mut out);
        out
    }

    #[test]
    fn pictures_fit_and_are_never_made_larger() {
        let rows = |width, height, columns| Picture::of(&drawn(width, height), columns).unwrap().rows();
        assert_eq!(rows(10, 10, 80), 1);
        assert_eq!(rows(100, 50, 80), 3);
        assert_eq!(rows(500, 4_000, 80), 14);
        assert_eq!(rows(4_000, 200, 80), 2);
        let wide = Picture::of(&drawn(4_000, 200), 80).unwrap();
        assert_eq!(wide.columns, 60);
        assert_eq!(rows(400, 400, 20), 10, "a narrow window makes it smaller");
    }

    #[test]
    fn each_terminal_is_told_in_its_own_words_and_the_cursor_stays() {
        let picture = Picture::of(&drawn(100, 50), 80).unwrap();
        let kitty = encoded(&picture, Pictures::Kitty);
        assert!(kitty.starts_with("\u{1b}7\u{1b}[2A\u{1b}_Ga=T,f=100,c=10,r=3,C=1,q=2,m=0;"), "{kitty}");
        assert!(kitty.ends_with("\u{1b}\\\u{1b}8"));
        let iterm = encoded(&picture, Pictures::Iterm);
        assert!(iterm.starts_with("\u{1b}7\u{1b}[2A\u{1b}]1337;File=inline=1;width=10;height=3;"), "{iterm}");
        assert!(iterm.ends_with("\u{7}\u{1b}8"));
        assert_eq!(encoded(&picture, Pictures::None), "");
    }

    #[test]
    fn a_large_picture_goes_in_pieces() {
        let mut picture = Picture::of(&drawn(100, 50), 80).unwrap();
        picture.data = "A".repeat(2 * PIECE + 1).into();
        let kitty = encoded(&picture, Pictures::Kitty);
        let pieces: Vec<&str> = kitty.split("\u{1b}_G").skip(1).collect();
        assert_eq!(pieces.len(), 3);
        assert!(
            pieces[0].contains("q=2,m=1;")
                && pieces[1].starts_with("m=1;")
                && pieces[2].starts_with("m=0;A\u{1b}")
        );
    }

    #[test]
    fn what_cannot_be_read_is_no_picture() {
        for data in ["", "\u{1b}[2J", "QUJD"] {
            let image = Image { data: Base64::from(data.to_owned()), ..drawn(1, 1) };
            assert_eq!(Picture::of(&image, 80), None);
        }
    }
}
