//! Tokenises WGSL, as far as [`check`](super::check) distinguishes tokens.

/// A token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// An identifier or a keyword.
    Word(&'a str),
    /// A number, its suffix included.
    Number(&'a str),
    /// An opening bracket: `(`, `[` or `{`.
    Open(u8),
    /// A closing bracket.
    Close(u8),
    /// `<`, not part of another operator.
    Less,
    /// `>`; two in a row are two tokens, since both may close template lists.
    Greater,
    /// `&&` or `||`.
    Logical,
    /// `=`, not part of another operator.
    Assign,
    /// `,`
    Comma,
    /// `;`
    Semicolon,
    /// `:`
    Colon,
    /// `.`, before a member.
    Dot,
    /// `@`
    At,
    /// Any other operator, by its first byte.
    Operator(u8),
}

/// Iterates over the tokens of any text, each with the offset of its first byte, without comments and blanks.
pub(super) struct Tokens<'a> {
    source: &'a str,
    at: usize,
}

impl<'a> Tokens<'a> {
    pub(super) const fn new(source: &'a str) -> Self {
        Self { source, at: 0 }
    }

    fn rest(&self) -> &'a str {
        self.source.get(self.at..).unwrap_or_default()
    }

    fn byte(&self, ahead: usize) -> u8 {
        let bytes = self.source.as_bytes();
        bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    /// Consumes characters while `is_part` is true.
    fn take_while(&mut self, is_part: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let n = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        self.at += n;
        &rest[..n]
    }

    /// Skips a block comment. Block comments nest; an unterminated one extends to the end.
    fn skip_block_comment(&mut self) {
        self.at += 2;
        let mut depth = 1;
        while depth > 0 && self.at < self.source.len() {
            match (self.byte(0), self.byte(1)) {
                (b'*', b'/') => {
                    depth -= 1;
                    self.at += 2;
                }
                (b'/', b'*') => {
                    depth += 1;
                    self.at += 2;
                }
                _ => self.at += 1,
            }
        }
        self.at = self.at.min(self.source.len());
    }

    /// Consumes a number: digits, letters and points, and a sign after an exponent letter.
    fn number(&mut self) -> &'a str {
        let start = self.at;
        let is_hexadecimal = self.byte(0) == b'0' && matches!(self.byte(1), b'x' | b'X');
        let mut before = 0;
        loop {
            let is_exponent = match before {
                b'e' | b'E' => !is_hexadecimal,
                b'p' | b'P' => is_hexadecimal,
                _ => false,
            };
            let byte = self.byte(0);
            let is_part = byte.is_ascii_alphanumeric()
                || byte == b'.'
                || byte == b'_'
                || is_exponent && matches!(byte, b'+' | b'-');
            if !is_part {
                return self.source.get(start..self.at).unwrap_or_default();
            }
            before = byte;
            self.at += 1;
        }
    }

    fn operator(&mut self) -> Token<'a> {
        let (first, second) = (self.byte(0), self.byte(1));
        self.at += 1;
        match (first, second) {
            (b'(' | b'[' | b'{', _) => Token::Open(first),
            (b')' | b']' | b'}', _) => Token::Close(first),
            (b',', _) => Token::Comma,
            (b';', _) => Token::Semicolon,
            (b':', _) => Token::Colon,
            (b'.', _) => Token::Dot,
            (b'@', _) => Token::At,
            (b'>', _) => Token::Greater,
            (b'<', b'<' | b'=') => {
                self.at += 1;
                Token::Operator(first)
            }
            (b'<', _) => Token::Less,
            (b'&', b'&') | (b'|', b'|') => {
                self.at += 1;
                Token::Logical
            }
            (b'=', b'=')
            | (b'-', b'>' | b'-')
            | (b'+', b'+')
            | (b'+' | b'-' | b'*' | b'/' | b'%' | b'&' | b'|' | b'^' | b'!', b'=') => {
                self.at += 1;
                Token::Operator(first)
            }
            (b'=', _) => Token::Assign,
            _ => Token::Operator(first),
        }
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = (usize, Token<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let c = self.rest().chars().next()?;
            if is_blank(c) {
                self.take_while(is_blank);
            } else if c == '/' && self.byte(1) == b'/' {
                self.take_while(|c| !is_line_end(c));
            } else if c == '/' && self.byte(1) == b'*' {
                self.skip_block_comment();
            } else {
                let start = self.at;
                let token = if is_part_of_word(c) && !c.is_ascii_digit() {
                    Token::Word(self.take_while(is_part_of_word))
                } else if c.is_ascii_digit() || c == '.' && self.byte(1).is_ascii_digit() {
                    Token::Number(self.number())
                } else {
                    self.operator()
                };
                return Some((start, token));
            }
        }
    }
}

/// Accepts more characters than WGSL does: the parser rejects the others.
const fn is_part_of_word(c: char) -> bool {
    c == '_' || c.is_ascii_alphanumeric() || !c.is_ascii() && !is_blank(c)
}

/// Returns true for WGSL's blankspace.
const fn is_blank(c: char) -> bool {
    matches!(
        c,
        ' ' | '\t'..='\r' | '\u{85}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}'
    )
}

const fn is_line_end(c: char) -> bool {
    matches!(c, '\n'..='\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(source: &str) -> Vec<Token<'_>> {
        Tokens::new(source).map(|(_, token)| token).collect()
    }

    #[test]
    fn tokens_are_told_apart() {
        use Token::{Assign, Close, Greater, Less, Logical, Number, Operator, Semicolon, Word};
        assert_eq!(
            all("a = /* x /* y */ z */ 1.5e-3f+0x1p+2; // b\nü<b>>c && d<=e->(f)"),
            [
                Word("a"),
                Assign,
                Number("1.5e-3f"),
                Operator(b'+'),
                Number("0x1p+2"),
                Semicolon,
                Word("ü"),
                Less,
                Word("b"),
                Greater,
                Greater,
                Word("c"),
                Logical,
                Word("d"),
                Operator(b'<'),
                Word("e"),
                Operator(b'-'),
                Token::Open(b'('),
                Word("f"),
                Close(b')'),
            ]
        );
    }

    #[test]
    fn any_text_ends() {
        for text in [
            "", "/*", "/* /* */", "//", "€ 💥", "1e+", "0x", "/*💥", "é/*",
        ] {
            let _ = all(text);
        }
        assert_eq!(all("/* never ends"), []);
    }
}
