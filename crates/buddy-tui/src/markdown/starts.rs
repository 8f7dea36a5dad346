//! How a line of Markdown begins: the signs that open a block, as `CommonMark` has them.

/// A line after the signs of the blocks around it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rest<'a> {
    pub(super) text: &'a str,
}

impl<'a> Rest<'a> {
    pub(super) fn indent(self) -> usize {
        self.text.bytes().take_while(|byte| *byte == b' ').count()
    }

    pub(super) fn is_blank(self) -> bool {
        self.text.trim_start_matches(' ').is_empty()
    }

    /// The line without so many spaces, or as many as there are.
    pub(super) fn without_spaces(self, count: usize) -> Self {
        self.after(count.min(self.indent()))
    }

    /// The line after so many bytes, which are ASCII.
    fn after(self, bytes: usize) -> Self {
        Self { text: self.text.get(bytes..).unwrap_or_default() }
    }

    /// The line without its indent, unless that makes code of it.
    fn unindented(self) -> Option<&'a str> {
        (self.indent() < 4).then(|| self.text.trim_start_matches(' '))
    }

    /// The line inside a quote.
    pub(super) fn quoted(self) -> Option<Self> {
        let inner = self.unindented()?.strip_prefix('>')?;
        Some(Self { text: inner.strip_prefix(' ').unwrap_or(inner) })
    }

    pub(super) fn is_heading(self) -> bool {
        self.unindented().is_some_and(|text| {
            let after = text.trim_start_matches('#');
            (1..=6).contains(&(text.len() - after.len())) && (after.is_empty() || after.starts_with(' '))
        })
    }

    /// The line under a title.
    pub(super) fn is_underline(self) -> bool {
        self.unindented().is_some_and(|text| {
            let text = text.trim_end();
            !text.is_empty()
                && (text.bytes().all(|byte| byte == b'=') || text.bytes().all(|byte| byte == b'-'))
        })
    }

    pub(super) fn is_rule(self) -> bool {
        self.unindented().is_some_and(|text| {
            let signs: String = text.split(' ').collect();
            signs.len() >= 3
                && ["*", "-", "_"]
                    .iter()
                    .any(|sign| signs.trim_matches(|c: char| sign.contains(c)).is_empty())
        })
    }

    /// The line between the head of a table and its rows.
    pub(super) fn is_table_line(self) -> bool {
        let text = self.text.trim();
        text.contains('-') && text.contains('|') && text.chars().all(|letter| "|-: ".contains(letter))
    }

    pub(super) fn fence(self) -> Option<CodeFence> {
        let text = self.unindented()?;
        let sign = text.chars().next().filter(|sign| matches!(sign, '`' | '~'))?;
        let info = text.trim_start_matches(sign);
        let length = text.len() - info.len();
        if length < 3 || (sign == '`' && info.contains('`')) {
            return None;
        }
        let language = info.trim().split([' ', ',', '{']).next().unwrap_or_default();
        Some(CodeFence { sign, length, indent: self.indent(), language: language.to_owned() })
    }

    pub(super) fn ends(self, fence: &CodeFence) -> bool {
        self.unindented().is_some_and(|text| {
            let text = text.trim_end();
            text.len() >= fence.length && text.chars().all(|letter| letter == fence.sign)
        })
    }

    /// A list item that begins here, and what is in it.
    pub(super) fn item(self) -> Option<(ListStart, Self)> {
        let text = self.unindented()?;
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let sign = text.chars().nth(digits)?;
        let number = match (digits, sign) {
            (0, '-' | '+' | '*') => None,
            (1..=9, '.' | ')') => Some(text.get(..digits)?.parse().ok()?),
            _ => return None,
        };
        let mark = self.indent() + digits + 1;
        let inner = self.after(mark);
        let spaces = match inner.indent() {
            _ if inner.is_blank() => 1,
            0 => return None,
            spaces @ 1..=4 => spaces,
            _ => 1,
        };
        Some((ListStart { sign, number, content: mark + spaces }, inner.without_spaces(spaces)))
    }

    /// The check box that an item begins with.
    pub(super) fn check_box(self) -> Option<(bool, Self)> {
        let boxes = [("[ ] ", false), ("[x] ", true), ("[X] ", true)];
        boxes
            .into_iter()
            .find_map(|(sign, is_done)| Some((is_done, Self { text: self.text.strip_prefix(sign)? })))
    }

    /// Raw HTML that begins here.
    pub(super) fn html(self) -> Option<Html> {
        let text = self.unindented()?.strip_prefix('<')?;
        if let Some((_, end)) = DECLARATIONS.iter().find(|(start, _)| text.starts_with(start)) {
            return Some(Html { end: Some(end), is_strong: true });
        }
        let name = text.strip_prefix('/').unwrap_or(text);
        let length = name.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'-').count();
        let (name, after) = name.split_at_checked(length).filter(|(name, _)| !name.is_empty())?;
        let name = name.to_ascii_lowercase();
        let end = VERBATIM.iter().find(|(verbatim, _)| *verbatim == name).map(|(_, end)| *end);
        let is_strong = end.is_some() || BLOCKS.contains(&name.as_str());
        let is_alone = after.trim_end().ends_with('>') && after.matches('>').count() == 1;
        let is_tag = after.is_empty() || after.starts_with([' ', '>', '/']);
        (is_tag && (is_strong || is_alone)).then_some(Html { end, is_strong })
    }
}

/// The beginnings of HTML without a name, each with its end.
const DECLARATIONS: [(&str, &str); 3] = [("!--", "-->"), ("?", "?>"), ("![CDATA[", "]]>")];

/// Tags whose content is taken as it is, and what ends it.
const VERBATIM: [(&str, &str); 4] =
    [("pre", "</pre>"), ("script", "</script>"), ("style", "</style>"), ("textarea", "</textarea>")];

/// Tags that make a block wherever they begin a line.
const BLOCKS: [&str; 30] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "center",
    "dd",
    "details",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "head",
    "header",
    "hr",
    "html",
    "li",
    "main",
    "nav",
    "ol",
    "p",
    "section",
    "summary",
    "table",
];

/// The line that opens a block of code.
#[derive(Debug, Clone)]
pub(super) struct CodeFence {
    sign: char,
    length: usize,
    pub(super) indent: usize,
    pub(super) language: String,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct ListStart {
    /// The bullet, or what follows the number. A list has one and the same.
    pub(super) sign: char,
    pub(super) number: Option<u64>,
    /// How far its content is indented.
    pub(super) content: usize,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Html {
    /// Its end; if there is none, an empty line ends it.
    pub(super) end: Option<&'static str>,
    /// It begins even in the middle of a paragraph.
    pub(super) is_strong: bool,
}
