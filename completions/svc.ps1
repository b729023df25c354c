# Completion of svc for PowerShell, as 'svc completion powershell' prints it.

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
        $insert, $shown, $description = $line -split "`t", 3
        if (-not $description) { $description = $shown }
        [System.Management.Automation.CompletionResult]::new($insert, $shown, 'ParameterValue', $description)
    }
}
