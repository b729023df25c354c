#!/usr/bin/env bash
# Package: exceljs, 4.4.0
# Behavior: spliceRows removes what it is told when at least as many rows follow as are removed, or when the last row alone is. Otherwise rows that should go stay, and move among the others; when several rows at the end are removed at once, all stay. No error is raised, and the saved workbook has them.
# Seen: of the rows 1 to 6, removing 2 rows from row 3 left 1 2 5 6, from row 4 it left 1 2 3 6 5, and from row 5 it left all; removing 3 rows from row 2 left 1 5 6 4
set -eu

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm install --prefix . --no-save --no-package-lock --ignore-scripts --silent --no-audit --no-fund exceljs@4.4.0

cat >remove.mjs <<'END'
import ExcelJS from 'exceljs';
for (const [start, count] of [
  [3, 2],
  [4, 2],
  [5, 2],
  [2, 3],
  [6, 1],
]) {
  const workbook = new ExcelJS.Workbook();
  const sheet = workbook.addWorksheet('cards');
  for (let row = 1; row <= 6; row += 1) sheet.addRow([row]);
  sheet.spliceRows(start, count);
  const saved = new ExcelJS.Workbook();
  await saved.xlsx.load(await workbook.xlsx.writeBuffer());
  const left = [];
  saved.worksheets[0].eachRow((row) => left.push(row.getCell(1).value));
  console.log(`${count} from row ${start}: ${left.join(' ')}`);
}
END
node remove.mjs >seen.txt
cat seen.txt

cat >expected.txt <<'END'
2 from row 3: 1 2 5 6
2 from row 4: 1 2 3 6 5
2 from row 5: 1 2 3 4 5 6
3 from row 2: 1 5 6 4
1 from row 6: 1 2 3 4 5
END
diff expected.txt seen.txt
