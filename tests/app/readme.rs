//! The README's code is the code that is compiled.

#[test]
fn minimal_example_is_the_one_in_the_readme_and_short() {
    let root = env!("CARGO_MANIFEST_DIR");
    let read = |file: &str| std::fs::read_to_string(format!("{root}/{file}")).unwrap();
    let example = read("examples/minimal.rs");
    assert!(example.lines().count() < 30);
    let (_, code) = example.split_once("\n\n").unwrap();
    assert!(read("README.md").contains(code));
}
