//! Text of functions in `shaders/lib`, by which compilers recognise intrinsics.

/// Returns the text of a function of a WGSL file, from `fn` to its closing brace. Expects the layout of `shaders/lib`: both
/// stand at the beginning of a line.
pub(crate) fn function<'a>(file: &'a str, name: &str) -> Option<&'a str> {
    let start = file.find(&format!("\nfn {name}("))? + 1;
    let text = &file[start..];
    let end = text.find("\n}\n")? + 2;
    Some(&text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_by_their_whole_name() {
        let file = "// fn ab() {}\n\nfn abc() {\n    if true {\n    }\n}\n\nfn ab() {\n}\n";
        assert_eq!(function(file, "ab"), Some("fn ab() {\n}"));
        assert_eq!(
            function(file, "abc"),
            Some("fn abc() {\n    if true {\n    }\n}")
        );
        assert_eq!(function(file, "b"), None);
    }
}
