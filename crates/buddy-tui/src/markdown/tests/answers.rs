//! A whole answer in different terminals.

use super::{colored, encoded, shown};
use crate::text::{Colors, TerminalLook, Theme};

const ANSWER: &str = "\
# Caching 🚀 the répertoire

A paragraph with *emphasis*, **strong words**, ~~no~~ and `code`, which goes on for a
while so that it is wrapped; 漢字も折り返されます。 See [the manual](https://example.org/manual) or <https://example.org/>.

Steps:
1. First install it:
   ```sh
   cargo install thing --locked
   ```
2. Then:
   - nested one
   - nested two with so many words that it has to be wrapped somewhere
     > quoted inside
3. [ ] not a box

- [x] done
- [ ] to do

* loose one

* loose two

> A quote that is long enough to be wrapped in the narrow one of the terminals.
>
> > And one inside.

| Name | Meaning | Count |
|:-----|:-------:|------:|
| alpha | the first letter of the Greek alphabet, which is long | 1 |
| 漢字 | `wide` | 20 |

---

```rust
fn main() {
    println!(\"hello\"); // a comment that is rather long for a narrow terminal
}
```

<details>
<summary>More</summary>
</details>

Text with a footnote[^1] and ![a picture](https://example.org/a.png).

[^1]: The note.

[ref]: https://example.org/ref
";

const SHORT: &str = "\
# Title

Some *soft*, **loud** and `code`, and [a link](https://example.org/).

> quoted

```rust
let x = \"漢字\"; // 🚀
```
";

#[test]
fn in_a_narrow_terminal() {
    insta::assert_snapshot!(shown(ANSWER, &TerminalLook::plain(), 40), @r#"
    # Caching 🚀 the répertoire

    A paragraph with *emphasis*, **strong
    words**, ~~no~~ and `code`, which goes
    on for a while so that it is wrapped; 漢
    字も折り返されます。 See the manual
    (https://example.org/manual) or
    https://example.org/.

    Steps:

    1. First install it:
       ```sh
       cargo install thing --locked
       ```
    2. Then:
       • nested one
       • nested two with so many words that
         it has to be wrapped somewhere
         > quoted inside
    3. [ ] not a box

    ☑ done
    ☐ to do

    • loose one

    • loose two

    > A quote that is long enough to be
    > wrapped in the narrow one of the
    > terminals.
    >
    > > And one inside.

    Name  │         Meaning          │ Count
    ──────┼──────────────────────────┼──────
    alpha │ the first letter of the  │     1
          │ Greek alphabet, which is │
          │           long           │
    漢字  │          `wide`          │    20

    ────────────────────────────────────────

    ```rust
    fn main() {
        println!("hello"); // a comment that
     is rather long for a narrow terminal
    }
    ```

    <details>
    <summary>More</summary>
    </details>

    Text with a footnote[^1] and a picture
    (https://example.org/a.png).

    [^1]: The note.

    [ref]: https://example.org/ref
    "#);
}

#[test]
fn in_a_usual_terminal() {
    insta::assert_snapshot!(shown(ANSWER, &TerminalLook::plain(), 80), @r#"
    # Caching 🚀 the répertoire

    A paragraph with *emphasis*, **strong words**, ~~no~~ and `code`, which goes on
    for a while so that it is wrapped; 漢字も折り返されます。 See the manual
    (https://example.org/manual) or https://example.org/.

    Steps:

    1. First install it:
       ```sh
       cargo install thing --locked
       ```
    2. Then:
       • nested one
       • nested two with so many words that it has to be wrapped somewhere
         > quoted inside
    3. [ ] not a box

    ☑ done
    ☐ to do

    • loose one

    • loose two

    > A quote that is long enough to be wrapped in the narrow one of the terminals.
    >
    > > And one inside.

    Name  │                        Meaning                        │ Count
    ──────┼───────────────────────────────────────────────────────┼──────
    alpha │ the first letter of the Greek alphabet, which is long │     1
    漢字  │                        `wide`                         │    20

    ────────────────────────────────────────

    ```rust
    fn main() {
        println!("hello"); // a comment that is rather long for a narrow terminal
    }
    ```

    <details>
    <summary>More</summary>
    </details>

    Text with a footnote[^1] and a picture (https://example.org/a.png).

    [^1]: The note.

    [ref]: https://example.org/ref
    "#);
}

#[test]
fn in_a_wide_terminal() {
    insta::assert_snapshot!(shown(ANSWER, &TerminalLook::plain(), 200), @r#"
    # Caching 🚀 the répertoire

    A paragraph with *emphasis*, **strong words**, ~~no~~ and `code`, which goes on for a
    while so that it is wrapped; 漢字も折り返されます。 See the manual
    (https://example.org/manual) or https://example.org/.

    Steps:

    1. First install it:
       ```sh
       cargo install thing --locked
       ```
    2. Then:
       • nested one
       • nested two with so many words that it has to be wrapped somewhere
         > quoted inside
    3. [ ] not a box

    ☑ done
    ☐ to do

    • loose one

    • loose two

    > A quote that is long enough to be wrapped in the narrow one of the terminals.
    >
    > > And one inside.

    Name  │                        Meaning                        │ Count
    ──────┼───────────────────────────────────────────────────────┼──────
    alpha │ the first letter of the Greek alphabet, which is long │     1
    漢字  │                        `wide`                         │    20

    ────────────────────────────────────────

    ```rust
    fn main() {
        println!("hello"); // a comment that is rather long for a narrow terminal
    }
    ```

    <details>
    <summary>More</summary>
    </details>

    Text with a footnote[^1] and a picture (https://example.org/a.png).

    [^1]: The note.

    [ref]: https://example.org/ref
    "#);
}

#[test]
fn in_ascii() {
    let look = TerminalLook { is_ascii: true, ..colored(Colors::Sixteen) };
    insta::assert_snapshot!(shown(ANSWER, &look, 80), @r#"
    Caching 🚀 the répertoire

    A paragraph with emphasis, strong words, no and code, which goes on for a while
    so that it is wrapped; 漢字も折り返されます。 See the manual or
    https://example.org/.

    Steps:

    1. First install it:
         cargo install thing --locked
    2. Then:
       - nested one
       - nested two with so many words that it has to be wrapped somewhere
         | quoted inside
    3. [ ] not a box

    [x] done
    [ ] to do

    - loose one

    - loose two

    | A quote that is long enough to be wrapped in the narrow one of the terminals.
    |
    | | And one inside.

    Name  |                        Meaning                        | Count
    ------+-------------------------------------------------------+------
    alpha | the first letter of the Greek alphabet, which is long |     1
    漢字  |                         wide                          |    20

    ----------------------------------------

      fn main() {
          println!("hello"); // a comment that is rather long for a narrow terminal
      }

    <details>
    <summary>More</summary>
    </details>

    Text with a footnote[^1] and a picture.

    [^1]: The note.

    [ref]: https://example.org/ref
    "#);
}

#[test]
fn in_all_colors() {
    insta::assert_snapshot!(encoded(SHORT, &colored(Colors::True), 80), @r#"
    ␛[1m␛[4mTitle␛[0m

    Some ␛[3msoft␛[0m, ␛[1mloud␛[0m and ␛[38;2;151;201;253mcode␛[0m, and ␛]8;;https://example.org/␛\␛[4m␛[38;2;151;201;253ma link␛[0m␛]8;;␛\.

    ␛[38;2;146;158;159m│ ␛[0m␛[3mquoted␛[0m

      ␛[38;2;213;185;247mlet␛[0m x = ␛[38;2;143;220;164m"漢字"␛[0m; ␛[38;2;146;158;159m// 🚀␛[0m
    "#);
}

#[test]
fn in_a_palette_on_a_light_ground() {
    let look = TerminalLook { theme: Theme::Light, ..colored(Colors::Palette) };
    insta::assert_snapshot!(encoded(SHORT, &look, 80), @r#"
    ␛[1m␛[4mTitle␛[0m

    Some ␛[3msoft␛[0m, ␛[1mloud␛[0m and ␛[38;5;25mcode␛[0m, and ␛]8;;https://example.org/␛\␛[4m␛[38;5;25ma link␛[0m␛]8;;␛\.

    ␛[38;5;242m│ ␛[0m␛[3mquoted␛[0m

      ␛[38;5;91mlet␛[0m x = ␛[38;5;22m"漢字"␛[0m; ␛[38;5;242m// 🚀␛[0m
    "#);
}

#[test]
fn in_the_colors_of_the_terminal() {
    let look = TerminalLook { theme: Theme::Terminal, ..colored(Colors::Sixteen) };
    insta::assert_snapshot!(encoded(SHORT, &look, 80), @r#"
    ␛[1m␛[4mTitle␛[0m

    Some ␛[3msoft␛[0m, ␛[1mloud␛[0m and ␛[94mcode␛[0m, and ␛]8;;https://example.org/␛\␛[4m␛[94ma link␛[0m␛]8;;␛\.

    ␛[2m│ ␛[0m␛[3mquoted␛[0m

      ␛[35mlet␛[0m x = ␛[32m"漢字"␛[0m; ␛[2m// 🚀␛[0m
    "#);
}

#[test]
fn without_colors_or_links() {
    insta::assert_snapshot!(encoded(SHORT, &TerminalLook::plain(), 80), @r#"
    # Title

    Some *soft*, **loud** and `code`, and a link (https://example.org/).

    > quoted

    ```rust
    let x = "漢字"; // 🚀
    ```
    "#);
}

#[test]
fn read_aloud_a_table_keeps_the_names_of_its_cells() {
    let look = TerminalLook { is_read_aloud: true, is_ascii: true, ..TerminalLook::plain() };
    insta::assert_snapshot!(shown("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | |\n", &look, 80), @r#"
    - a: 1
      b: 2
    - a: 3
      b:
    "#);
}
