"""What is left of a conflict that was resolved by half."""

from __future__ import annotations

import pytest

from hydra.analysis.tampering.conflict_markers import conflict_markers
from tests.support.evidences import file

LEFT = [
    ("src/a.py", "a = 1\n=======\nb = 2\n"),
    ("src/a.py", "a = 1\r\n>>>>>>> theirs\r\nb = 2\r\n"),
    ("src/a.py", "a = 1\n||||||| merged common ancestors\nb = 2\n"),
    ("src/a.py", "<<<<<<< HEAD\na = 1\n"),
    ("src/a.ts", "const a = 1;\n>>>>>>> other\n"),
    ("src/a.rs", "fn a() {}\n=======\n"),
    ("Main.java", "class A {}\n=======\n"),
    ("a.json", '{"a": 1,\n=======\n"b": 2}\n'),
    ("a.rb", "x = <<~EOS\n  text\nEOS\n=======\n"),
    ("run.sh", "cat <<EOF\ntext\nEOF\n>>>>>>> other\n"),
    ("ci.yml", "a: 1\n=======\nb: 2\n"),
    ("src/b.rs", 'const A: &str = "\na\n";\n=======\n'),
    ("b.rb", 'puts "a", "it\'s"\n=======\n'),
    ("b.sh", 'echo "a\nb"\n=======\n'),
]
NONE_LEFT = [
    ("README.md", "Example\n=======\n\n>>>>>>> quoted\n"),
    ("docs/a.rst", "Example\n=======\n"),
    ("notes.txt", "Example\n=======\n"),
    ("src/a.py", '"""Title.\n\nExample\n=======\n"""\n'),
    ("src/a.py", "x = '''\n>>>>>>> theirs\n'''\n"),
    ("src/a.ts", "const a = `\n=======\n`;\n"),
    ("src/a.c", "/*\n=======\n*/\nint a;\n"),
    ("src/a.go", "var a = `\n=======\n`\n"),
    ("src/a.rs", '/*\n=======\n*/\nstatic A: &str = r#"\n=======\n"#;\n'),
    ("run.sh", "cat <<EOF\nTitle\n=======\nEOF\n"),
    ("run.sh", "cat <<-'END'\n>>>>>>> x\n\tEND\n"),
    ("a.rb", "x = <<~EOS\nTitle\n=======\nEOS\n"),
    ("a.php", "<?php\n$a = <<<EOT\n=======\nEOT;\n"),
    ("src/a.py", "# =======\nx = 1  # >>>>>>> no\n"),
    ("src/a.py", "========\n"),
    ("src/a.rs", 'const A: &str = "\n=======\nTitle\n=======\n";\n'),
    ("run.sh", 'echo "\n=======\n$1\n======="\n'),
    ("a.rb", "puts 'Title\n=======\n'\n"),
    ("a.rb", "puts DATA.read\n__END__\nTitle\n=======\n"),
    ("a.php", "<?php\n$a = '\n=======\n';\n"),
    ("A.cs", 'var a = @"\n=======\n";\n'),
    ("a.cpp", 'auto a = R"(\n=======\n)";\n'),
]


def told(path: str, old: str | None, new: str) -> list[str]:
    return [finding.text for finding in conflict_markers([file(path, old, new)])]


@pytest.mark.parametrize(("path", "new"), LEFT)
def test_a_marker_that_was_left_in_code_is_told(path: str, new: str) -> None:
    assert told(path, "", new) == [f"leaves a conflict marker in {path}"]
    assert told(path, new, new + "\n") == []


@pytest.mark.parametrize(("path", "new"), NONE_LEFT)
def test_an_underline_and_a_quotation_are_no_markers(path: str, new: str) -> None:
    assert told(path, "", new) == []
