#!/bin/sh
# Checks this bundle: sh verify.sh <hash>
#
# The hash must come from another source than this bundle. It is one of these:
# - that of the bundle (of SHA256SUMS, which lists every other file): it proves everything in the bundle;
# - that of the newest record: it proves the records, the entries, and what this script derives from them.
#
# Needs awk, dirname, find, gzip, sed, sha256sum, tr and wc. Writes nothing. Exit code 0: nothing was changed, removed, reordered or added.
set -eu
LC_ALL=C
export LC_ALL

fail() {
  echo "FAILED: $1" >&2
  exit 1
}

for tool in awk dirname find gzip sed sha256sum tr wc; do
  command -v "$tool" > /dev/null || fail "$tool is not installed"
done
given=
if [ $# -gt 0 ]; then
  given=$(printf %s "$1" | tr A-F a-f)
  case $given in *[!0-9a-f]*) given= ;; esac
  [ $# -eq 1 ] && [ ${#given} -eq 64 ] || fail 'give one hash: 64 hexadecimal digits'
fi
CDPATH='' cd "$(dirname "$0")"

# What lies here: things that are neither files nor folders, then the folders, then the files with their hashes.
found() {
  find . ! -type f ! -type d
  echo
  find . -type d
  echo
  find . -type f -exec sha256sum {} +
}

facts=$(found | awk -v given="$given" -v readme=@README@ '
  function problem(words) {
    print "FAILED: " printable(words)
    hasProblem = 1
  }
  function printable(words) {
    gsub(/[^ -~]/, "?", words)
    return words
  }
  function say(words) { says[++saidLines] = printable(words) }
  # Large numbers must not become 2.1e+09.
  function digits(number) { return sprintf("%.0f", number) }

  # The text after a name in JSON, as it is written.
  function textOf(json, name,    start) {
    start = index(json, "\"" name "\":\"")
    if (!start) return ""
    json = substr(json, start + length(name) + 4)
    match(json, /^([^"\\]|\\.)*/)
    return substr(json, 1, RLENGTH)
  }
  function numberOf(json, name,    start) {
    start = index(json, "\"" name "\":")
    if (!start || !match(substr(json, start + length(name) + 3), /^[0-9]+/)) return -1
    return substr(json, start + length(name) + 3, RLENGTH) + 0
  }

  function signedNumberOf(json, name,    start) {
    start = index(json, "\"" name "\":")
    if (!start || !match(substr(json, start + length(name) + 3), /^-?[0-9]+/)) return 0
    return substr(json, start + length(name) + 3, RLENGTH) + 0
  }

  # The elements of a list of objects that contain no list, as they are written.
  function listOf(json, name,    start) {
    start = index(json, "\"" name "\":[")
    if (!start) return ""
    json = substr(json, start + length(name) + 4)
    return substr(json, 1, index(json, "]") - 1)
  }

  # Times of one form are in order as texts. The ranges of a set are in order too, with time between them.
  function addRange(set, from, to,    count, at, isAdded) {
    if (to <= from) return
    if (began == "" || from < began) began = from
    count = ranges[set]
    if (count && from >= begins[set, count] && from <= ends[set, count]) {
      if (to > ends[set, count]) ends[set, count] = to
      return
    }
    ranges[set] = 0
    for (at = 1; at <= count; at++) {
      if (ends[set, at] < from) keepRange(set, begins[set, at], ends[set, at])
      else if (begins[set, at] > to) {
        after[++isAdded] = begins[set, at] SUBSEP ends[set, at]
      } else {
        if (begins[set, at] < from) from = begins[set, at]
        if (ends[set, at] > to) to = ends[set, at]
      }
    }
    keepRange(set, from, to)
    for (at = 1; at <= isAdded; at++) {
      split(after[at], pair, SUBSEP)
      keepRange(set, pair[1], pair[2])
    }
  }
  function keepRange(set, from, to) {
    begins[set, ++ranges[set]] = from ""
    ends[set, ranges[set]] = to ""
  }
  function cutRanges(set, from,    count, at) {
    count = ranges[set]
    ranges[set] = 0
    for (at = 1; at <= count; at++)
      if (ends[set, at] > from) keepRange(set, begins[set, at] < from ? from : begins[set, at], ends[set, at])
  }
  # Adds what is left of a range without those of a set.
  function addRest(set, from, to, others,    at) {
    for (at = 1; at <= ranges[others]; at++) {
      if (ends[others, at] <= from || begins[others, at] >= to) continue
      if (begins[others, at] > from) keepRange(set, from, begins[others, at])
      from = ends[others, at]
    }
    if (from < to) keepRange(set, from, to)
  }
  function sooner(one, other) { return one < other ? one : other }
  function later(one, other) { return one > other ? one : other }

  # A time in milliseconds, counted from one that is the same for all. Some versions of awk read 08 as octal.
  function part(time, start, size) { return ("1" substr(time, start, size)) - substr("10000", 1, size + 1) }
  function msOf(time,    year, month, day) {
    year = part(time, 1, 4) + 400
    month = part(time, 6, 2)
    if (month < 3) {
      year--
      month += 12
    }
    day = 365 * year + int(year / 4) - int(year / 100) + int(year / 400) + int((153 * month - 457) / 5) + part(time, 9, 2)
    return ((day * 24 + part(time, 12, 2)) * 60 + part(time, 15, 2)) * 60000 + part(time, 18, 2) * 1000 + part(time, 21, 3)
  }
  function shown(time) { return substr(time, 1, 10) " " substr(time, 12, 8) "Z" }

  # How much of the requested time the records cover: the missing ranges with their reasons, and the share.
  function addMissing(from, to, reason) {
    if (from >= to) return
    missing[++missed] = shown(from) " to " shown(to) ": " reason
    missingMs += msOf(to) - msOf(from)
  }
  function findMissing(from, to,    first, last, count, at) {
    count = ranges["whole"]
    first = count ? begins["whole", 1] : to
    last = count ? ends["whole", count] : from
    if (count) addMissing(from, sooner(to, began), "before the archive")
    if (count) addMissing(later(from, began), sooner(to, first), drops == "" ? "before the archive" : "dropped by retention")
    if (later(from, first) < sooner(to, last)) addRest("lacking", later(from, first), sooner(to, last), "covered")
    for (at = 1; at <= ranges["lacking"]; at++) addMissing(begins["lacking", at], ends["lacking", at], "gap")
    addMissing(later(from, last), to, "not archived yet")
  }
  # The share is rounded down, so that only all of the time is 100%.
  function shareText(from, to,    tenths) {
    tenths = int((msOf(to) - msOf(from) - missingMs) * 1000 / (msOf(to) - msOf(from)))
    return int(tenths / 10) (tenths % 10 ? "." tenths % 10 : "") "% of " shown(from) " to " shown(to)
  }
  function rangesText(set,    at, text) {
    for (at = 1; at <= ranges[set]; at++)
      text = text (at > 1 ? "," : "") "{\"from\": \"" begins[set, at] "\",\"to\": \"" ends[set, at] "\"}"
    return "[" text "]"
  }

  function addSegments(record, list,    parts, count, at, path, day) {
    count = list == "" ? 0 : split(list, parts, "[}],[{]")
    for (at = 1; at <= count; at++) {
      path = textOf(parts[at], "path")
      if (path !~ /^tenant=[A-Za-z0-9%._~!*()\047-]+\/date=[0-9a-z-]+\/part-[0-9]+-[0-9a-f]+\.(jsonl|raw)\.gz$/) {
        problem(record " lists a file with an odd name: " path)
        continue
      }
      if (path in recordOf) problem(record " lists " path " again")
      recordOf[path] = record
      day = path
      sub(/^[^\/]*\/date=/, "", day)
      sub(/\/.*/, "", day)
      paths[++listed] = path
      days[listed] = day
      hashes[listed] = textOf(parts[at], "sha256")
      counts[listed] = numberOf(parts[at], "entries")
      sizes[listed] = numberOf(parts[at], "bytes")
    }
  }

  # Takes away what retention dropped; the record must count it as the records before it do.
  function dropBefore(record, json,    before, at, month, months, names, files, rows, bytes, text, total) {
    before = textOf(json, "before")
    if (before !~ /^[0-9]+-[0-9][0-9]-01T00:00:00\.000Z$/) problem(record " drops parts of months")
    for (at = 1; at <= listed; at++) {
      if (at in isDropped || days[at] >= substr(before, 1, 10)) continue
      isDropped[at] = 1
      month = substr(days[at], 1, 7)
      if (!(month in files)) names[++months] = month
      files[month]++
      rows[month] += counts[at]
      bytes[month] += sizes[at]
      total += counts[at]
    }
    sort(names, months)
    for (at = 1; at <= months; at++) {
      month = names[at]
      text = text (at > 1 ? "," : "") "{\"month\":\"" month "\",\"segments\":" digits(files[month]) \
        ",\"entries\":" digits(rows[month]) ",\"bytes\":" digits(bytes[month]) "}"
    }
    if (listOf(json, "months") != text) problem(record " does not count the entries that it drops")
    gsub(/":/, "\": ", text)
    drops = drops (drops == "" ? "" : ",") "{\"before\": \"" before "\",\"written_at\": \"" textOf(json, "written_at") \
      "\",\"by\": \"" textOf(json, "by") "\",\"months\": [" text "]}"
    if (substr(before, 1, 10) > firstKept) firstKept = substr(before, 1, 10)
    cutRanges("read", before)
    cutRanges("lost", before)
    say("Dropped by retention: " digits(total) " entries from before " before ", by " textOf(json, "by"))
  }
  function sort(texts, count,    at, place, text) {
    for (at = 2; at <= count; at++) {
      text = texts[at]
      for (place = at; place > 1 && texts[place - 1] > text; place--) texts[place] = texts[place - 1]
      texts[place] = text
    }
  }

  # Keeps a signed review as evidence.json must state it. It must be about a record and entries that are here.
  function addReview(number, path, json, review,    at, from, to, seen, total) {
    sub(/,$/, "", review)
    if (review !~ /^\{.*\}$/) problem(path " has an odd review")
    from = textOf(review, "from")
    to = textOf(review, "to")
    seen = numberOf(review, "record")
    if (seen < 0 || seen >= number || hash[sprintf("_manifest/%08d.json", seen)] != textOf(review, "record_sha256"))
      problem(path " is a review of a record that is not here")
    for (at = 1; at <= listed; at++)
      if (!(at in isDropped) && days[at] >= from && days[at] <= to) total += counts[at]
    if (numberOf(review, "entries") != total) problem(path " is a review of other entries than the records list")
    reviewFrom[++reviewed] = from
    reviewTo[reviewed] = to
    reviewText[reviewed] = "Review (" textOf(review, "of") ") of " from (from == to ? "" : " to " to) ": signed off by " \
      textOf(review, "by") " at " textOf(json, "written_at")
    # A quote that ends a name is the only one before a colon that no backslash precedes.
    gsub(/[^\\]":/, "& ", review)
    reviews = reviews (reviews == "" ? "" : ",") "{\"number\": " number ",\"written_at\": \"" textOf(json, "written_at") "\"," \
      substr(review, 2)
  }

  # Keeps by how much the clock of the archiving machine differed from that of the service.
  function addClock(json,    ms, side, at) {
    ms = signedNumberOf(json, "clock_ahead_ms")
    if (ms == 0) return
    side = ms > 0 ? "ahead of" : "behind"
    at = textOf(json, "written_at")
    if (ms < 0) ms = -ms
    if (!(side in clockRecords)) {
      clockSides[++clocks] = side
      clockFrom[side] = at
    }
    clockRecords[side]++
    clockTo[side] = at
    if (ms > clockMost[side] + 0) clockMost[side] = ms
  }
  function clocksText(    at, side, text) {
    for (at = 1; at <= clocks; at++) {
      side = clockSides[at]
      text = text (at > 1 ? "," : "") "{\"direction\": \"" side "\",\"records\": " clockRecords[side] ",\"most_ms\": " \
        digits(clockMost[side]) ",\"from\": \"" clockFrom[side] "\",\"to\": \"" clockTo[side] "\"}"
    }
    return "[" text "]"
  }

  function readRecord(number, path,    json, more, start, kind) {
    if ((getline json < path) <= 0) json = ""
    if ((getline more < path) > 0) problem(path " has a second line")
    close(path)
    start = ",\"sequence\":" number ",\"previous\":" previous ",\"kind\":\""
    if (index(json, "{\"version\":2" start) != 1)
      problem(path " does not follow the record before it: one of the two was changed")
    previous = "\"" hash[path] "\""
    start = index(json, "\"position\":{")
    json = substr(json, 1, start - 1)
    kind = textOf(json, "kind")
    addClock(json)
    if ((kind == "begin") != (number == 0)) problem(path " is of a kind that cannot be here")
    if (kind == "begin") {
      service = textOf(json, "service")
      tenant = textOf(json, "tenant_id")
    } else if (kind == "segments") {
      addSegments(path, listOf(json, "segments"))
      addRange("read", textOf(json, "read_from"), textOf(json, "read_to"))
      start = index(json, "\"review\":{")
      if (start) addReview(number, path, json, substr(json, start + 9))
    } else if (kind == "gap") {
      addRange("lost", textOf(json, "from"), textOf(json, "to"))
    } else if (kind == "dropped") {
      dropBefore(path, json)
    } else problem(path " is of a kind that this script does not know")
  }

  # Each part of evidence.json must be what the records say.
  function expect(what, text) {
    if (isOther) return
    if (substr(statement, 1, length(text)) != text) {
      problem("evidence.json does not say of " what " what the records do")
      isOther = 1
    }
    statement = substr(statement, length(text) + 1)
  }

  function belongs(path) {
    isKnown[path] = 1
    while (sub(/\/[^\/]*$/, "", path)) isFolder["./" path] = 1
  }

  $0 == "" { section++; next }
  section == 0 { problem($0 " is a link, or something else that is no file"); next }
  section == 1 { folders[++folderCount] = $0; next }
  {
    path = substr($0, 69)
    if (path in hash) problem(path " is here twice")
    files[++fileCount] = path
    hash[path] = substr($0, 1, 64)
  }

  END {
    belongs("README.md")
    belongs("SHA256SUMS")
    belongs("access.csv")
    belongs("evidence.json")
    belongs("report.html")
    belongs("verify.sh")
    isFolder["."] = 1
    while ((getline line < "SHA256SUMS") > 0) {
      path = substr(line, 67)
      isSummed[path] = 1
      if (hash[path] == "") problem(path " is missing")
      else if (line != hash[path] "  " path) problem(path " was changed")
    }
    if (hash["report.html"] == "") problem("report.html is missing")
    if (hash["access.csv"] == "") problem("access.csv is missing")
    if (hash["README.md"] != readme) problem("README.md is not the one that came with this script")

    previous = "null"
    for (number = 0; (path = sprintf("_manifest/%08d.json", number)) in hash; number++) {
      belongs(path)
      readRecord(number, path)
      newest = hash[path]
    }
    if (number == 0) problem("there is no record")

    while ((getline line < "evidence.json") > 0) {
      sub(/^ +/, "", line)
      statement = statement line
    }
    expect("the version", "{\"version\": 1,")
    expect("the service", "\"service\": \"" service "\",")
    expect("the tenant", "\"tenant_id\": \"" tenant "\",")
    if (statement !~ /^"from": "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]","to": "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]",/)
      problem("evidence.json does not say which days are here")
    from = substr(statement, 10, 10)
    to = substr(statement, 29, 10)
    if (to < from) problem("evidence.json ends before it begins")
    if (from < firstKept) problem("evidence.json begins with days that retention dropped: " firstKept " is the first day left")
    statement = substr(statement, 41)
    requestedFrom = substr(statement, 24, 24)
    requestedTo = substr(statement, 57, 24)
    time = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9][.][0-9][0-9][0-9]Z"
    if (statement !~ ("^\"requested\": [{]\"from\": \"" time "\",\"to\": \"" time "\"[}],")) {
      problem("evidence.json does not say which time was requested")
    } else {
      # Entries with an odd time can be of days before and after; requested days that retention dropped are not here.
      if (substr(requestedFrom, 11) != "T00:00:00.000Z" || later(substr(requestedFrom, 1, 10), firstKept) < from)
        problem("evidence.json begins after the first day that was requested")
      if (requestedTo <= requestedFrom || msOf(requestedTo) - msOf(to "T00:00:00.000Z") > 86400000)
        problem("evidence.json ends before the last day that was requested")
    }
    statement = substr(statement, 84)

    for (at = 1; at <= listed; at++) {
      if (at in isDropped) continue
      path = paths[at]
      if (days[at] != "unknown" && (days[at] < from || days[at] > to)) {
        others += counts[at]
        if (first == "" || days[at] < first) first = days[at]
        if (days[at] > last) last = days[at]
        continue
      }
      belongs(path)
      here[++hereCount] = at
      entries += counts[at]
      if (!(path in hash)) problem(path " is missing: " recordOf[path] " lists it")
      else if (hash[path] != hashes[at]) problem(path " was changed: it is not the file that " recordOf[path] " lists")
    }
    for (at = 1; at <= fileCount; at++) {
      if (!(files[at] in isKnown)) problem(files[at] " does not belong to the bundle")
      else if (!(files[at] in isSummed) && files[at] != "SHA256SUMS") problem(files[at] " is not in SHA256SUMS")
    }
    for (at = 1; at <= folderCount; at++)
      if (!(folders[at] in isFolder)) problem(folders[at] " does not belong to the bundle")

    for (at = 1; at <= ranges["read"]; at++) addRest("covered", begins["read", at], ends["read", at], "lost")
    for (at = 1; at <= ranges["read"]; at++) addRange("whole", begins["read", at], ends["read", at])
    for (at = 1; at <= ranges["lost"]; at++) addRange("whole", begins["lost", at], ends["lost", at])
    if (ranges["whole"]) addRest("gaps", begins["whole", 1], ends["whole", ranges["whole"]], "covered")
    findMissing(requestedFrom, requestedTo)
    expect("the newest record", "\"record\": " (number - 1) ",\"sha256\": \"" newest "\",\"records\": " number ",")
    expect("the number of files", "\"segments\": " digits(hereCount) ",")
    expect("the number of entries", "\"entries\": " digits(entries) ",")
    expect("the times that are covered", "\"covered\": " rangesText("covered") ",")
    expect("gaps", "\"gaps\": " rangesText("gaps") ",")
    expect("what retention dropped", "\"dropped\": [" drops "],")
    expect("reviews", "\"reviews\": [" reviews "],")
    expect("clocks", "\"clock\": " clocksText() ",\"verified\": {")

    if (given != "" && given != hash["SHA256SUMS"] && given != newest)
      problem("the hash " given " is neither that of SHA256SUMS (" hash["SHA256SUMS"] ") nor that of the newest record (" newest ")")
    if (hasProblem) exit 1

    for (at = 1; at <= hereCount; at++) print "count", digits(counts[here[at]]), paths[here[at]]
    print "say OK: " digits(entries) " entries in " digits(hereCount) " files, of the days " from " to " to " (UTC); " \
      number " records, the newest with the hash " newest
    print "say " printable("Tenant " tenant " of " service)
    if (others) print "say Not in this bundle: " digits(others) " entries that the records list, of other days from " first " to " last
    for (at = 1; at <= ranges["covered"]; at++) print "say Covered: " begins["covered", at] " to " ends["covered", at]
    for (at = 1; at <= ranges["gaps"]; at++) print "say Gap, entries may be missing: " begins["gaps", at] " to " ends["gaps", at]
    for (at = 1; at <= saidLines; at++) print "say " says[at]
    for (at = 1; at <= reviewed; at++)
      if (reviewFrom[at] <= to && reviewTo[at] >= from) print "say " printable(reviewText[at])
    for (at = 1; at <= clocks; at++)
      print "say " printable("Clock: the archiving machine was up to " digits(clockMost[clockSides[at]]) " ms " clockSides[at] \
        " the service in " clockRecords[clockSides[at]] " records")
    if (statement !~ /"problems": \[\]}}$/) print "say svc found problems when it made this bundle: evidence.json names them"
    for (at = 1; at <= missed; at++) print "say Missing: " missing[at]
    if (given == "") print "say Checked against nothing from outside: ask for the hash. Without it, this bundle proves only itself."
    else if (given == hash["SHA256SUMS"])
      print "say Checked against SHA256SUMS only: its hash proves that all of this bundle is as it was written."
    else {
      print "say Checked against the record\047s hash: it proves the records, these entries, and what is printed here."
      print "say It does not prove that these are the days you asked for, nor README.md, report.html, access.csv and what svc verified: for that, give the hash of SHA256SUMS."
    }
    print "say Coverage: " shareText(requestedFrom, requestedTo)
  }') || {
  printf '%s\n' "$facts" >&2
  exit 1
}

# A pipe loses the exit code of gzip, so the file is tested before its lines are counted. (zsh ties the name path to PATH.)
printf '%s\n' "$facts" | while read -r word count file; do
  [ "$word" = count ] || continue
  gzip -t < "$file" 2> /dev/null || fail "$file is damaged: gzip cannot read all of it"
  [ "$(gzip -dc < "$file" | wc -l)" -eq "$count" ] || fail "$file does not contain $count entries"
done
printf '%s\n' "$facts" | sed -n 's/^say //p'
