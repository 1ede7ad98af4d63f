# Flattens one JSON document on stdin to lines "path<TAB>value": devices.0.device<TAB>rxe_v0. Strings
# lose their quotes, an empty array or object gives no line. jq would take seconds here: the guest's
# processor is emulated.

function skip() { if (match(rest, /^[ \t\r\n]+/)) rest = substr(rest, RLENGTH + 1) }

function take(pattern,   token) {
  skip()
  if (!match(rest, pattern)) { print "not JSON at: " substr(rest, 1, 40); failed = 1; exit 1 }
  token = substr(rest, 1, RLENGTH)
  rest = substr(rest, RLENGTH + 1)
  return token
}

function text(token) {
  token = substr(token, 2, length(token) - 2)
  gsub(/\\"/, "\"", token)
  gsub(/\\\\/, "\\", token)
  return token
}

function join(path, key) { return path == "" ? key : path "." key }

function value(path,   key, index_) {
  skip()
  if (rest ~ /^\{/) {
    take("^[{]")
    skip()
    if (rest ~ /^\}/) { take("^[}]"); return }
    do {
      key = text(take("^\"([^\"\\\\]|\\\\.)*\""))
      take("^:")
      value(join(path, key))
    } while (take("^[,}]") == ",")
  } else if (rest ~ /^\[/) {
    take("^\\[")
    skip()
    if (rest ~ /^\]/) { take("^\\]"); return }
    index_ = 0
    do value(join(path, index_++)); while (take("^[],]") == ",")
  } else if (rest ~ /^"/) {
    print path "\t" text(take("^\"([^\"\\\\]|\\\\.)*\""))
  } else {
    print path "\t" take("^(-?[0-9][-+.eE0-9]*|true|false|null)")
  }
}

{ document = document $0 "\n" }

END {
  if (failed) exit 1
  rest = document
  value("")
  skip()
  if (rest != "") { print "not JSON at: " substr(rest, 1, 40); exit 1 }
}
