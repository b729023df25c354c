import { lines, type Shell } from './shell.ts';

// Windows PowerShell mangles arguments that are empty or hold quotes, so the words travel as one Base64 text.
const SCRIPT = String.raw`# Completion of svc for PowerShell, as 'svc completion powershell' prints it.

Register-ArgumentCompleter -Native -CommandName 'svc' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $svc = Get-Command -Name 'svc' -CommandType Application, ExternalScript -ErrorAction SilentlyContinue |
        Select-Object -First 1
    if (-not $svc) { return }
    $words = @()
    $current = ''
    foreach ($element in ($commandAst.CommandElements | Select-Object -Skip 1)) {
        $extent = $element.Extent
        if ($extent.StartOffset -ge $cursorPosition) { break }
        if ($extent.EndOffset -ge $cursorPosition) {
            $current = $extent.Text.Substring(0, $cursorPosition - $extent.StartOffset)
        } elseif ($element -is [System.Management.Automation.Language.StringConstantExpressionAst]) {
            $words += $element.Value
        } else {
            $words += $extent.Text
        }
    }
    $text = (@("$wordToComplete", $current) + $words) -join [char]0
    $typed = [Convert]::ToBase64String([Text.Encoding]::UTF8.GetBytes($text))
    $encoding = [Console]::OutputEncoding
    try {
        [Console]::OutputEncoding = [Text.Encoding]::UTF8
        $answer = @(& $svc __complete powershell $typed 2>$null)
    } finally {
        [Console]::OutputEncoding = $encoding
    }
    foreach ($line in $answer) {
        $insert, $shown, $description = $line -split "${'`'}t", 3
        if (-not $description) { $description = $shown }
        [System.Management.Automation.CompletionResult]::new($insert, $shown, 'ParameterValue', $description)
    }
}
`;

/** Windows PowerShell 5.1 and PowerShell 7. Where nothing is answered it completes files by itself. */
export const powershell: Shell = {
  name: 'powershell',
  script: SCRIPT,
  read([typed = '']) {
    const [word = '', raw = '', ...words] = Buffer.from(typed, 'base64').toString('utf8').split('\0');
    const current = raw.replaceAll(/^['"]|['"]$/g, '');
    const wordText = word.replaceAll(/^['"]|['"]$/g, '');
    // Of `id,sta` PowerShell replaces only what follows the comma.
    const head = current.endsWith(wordText) ? current.slice(0, current.length - wordText.length) : '';
    return {
      words,
      current,
      tell({ prefix, candidates }) {
        const rows = candidates.map(([value, description]) => {
          const whole = prefix + value;
          const part = whole.startsWith(head) ? whole.slice(head.length) : whole;
          return [quoted(part), value, description].join('\t');
        });
        return lines(rows);
      },
    };
  },
};

// Single quotes keep everything as it is; a quote inside is doubled, the typographic ones too.
function quoted(text: string): string {
  if (/^[\p{L}\p{N}_+=:./\\-]+$/u.test(text)) return text;
  return `'${text.replaceAll(/['‘’‚‛]/g, '$&$&')}'`;
}
