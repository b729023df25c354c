// Describes the executables for package managers that need no account of their users: a Homebrew formula and a Scoop manifest.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };

/** The blocks of a formula by platform: system, and processor. */
const HOMEBREW = {
  'darwin-arm64': ['on_macos', 'on_arm'],
  'darwin-x64': ['on_macos', 'on_intel'],
  'linux-arm64': ['on_linux', 'on_arm'],
  'linux-x64': ['on_linux', 'on_intel'],
};

/**
 * Writes svc-cli.rb and svc-cli.json beside the executables that SHA256SUMS of a directory lists. `homepage` and `downloads`
 * are addresses; the files are expected at `<downloads>/<name of the file>`.
 */
export function writeChannels(directory, { homepage, downloads }) {
  const release = { ...manifest, homepage, downloads, sums: sumsIn(directory) };
  writeFileSync(join(directory, `${manifest.name}.rb`), formula(release));
  writeFileSync(join(directory, `${manifest.name}.json`), `${JSON.stringify(scoop(release), null, 2)}\n`);
}

/** Returns a Homebrew formula that installs the executable of each platform among the hashes, by file name. */
function formula({ name, version, description, license, homepage, downloads, sums }) {
  const blocks = Object.entries(HOMEBREW).flatMap(([platform, [system, processor]]) => {
    const file = `svc-${version}-${platform}.tar.gz`;
    if (!(file in sums)) return [];
    return [
      `  ${system} do`,
      `    ${processor} do`,
      `      url "${downloads}/${file}"`,
      `      sha256 "${sums[file]}"`,
      '    end',
      '  end',
      '',
    ];
  });
  return [
    `class ${className(name)} < Formula`,
    `  desc "${description}"`,
    `  homepage "${homepage}"`,
    `  version "${version}"`,
    `  license "${license}"`,
    '',
    ...blocks,
    '  def install',
    '    bin.install "svc"',
    '    man1.install Dir["man/*.1"]',
    '    man7.install Dir["man/*.7"]',
    '    bash_completion.install "completions/svc.bash" => "svc"',
    '    zsh_completion.install "completions/_svc"',
    '    fish_completion.install "completions/svc.fish"',
    '  end',
    '',
    '  test do',
    '    assert_match version.to_s, shell_output("#{bin}/svc --version")',
    '  end',
    'end',
    '',
  ].join('\n');
}

/** Returns a Scoop manifest of the executable for Windows. */
function scoop({ version, description, license, homepage, downloads, sums }) {
  const directory = `svc-${version}-win-x64`;
  const file = `${directory}.tar.gz`;
  const url = `${downloads}/${file}`;
  return {
    version,
    description,
    homepage,
    license,
    architecture: file in sums ? { '64bit': { url, hash: sums[file], extract_dir: directory } } : {},
    bin: 'svc.exe',
  };
}

function className(name) {
  return name.replaceAll(/(^|-)([a-z])/g, (_, _hyphen, letter) => letter.toUpperCase());
}

function sumsIn(directory) {
  const lines = readFileSync(join(directory, 'SHA256SUMS'), 'utf8').trimEnd().split('\n');
  return Object.fromEntries(lines.map((line) => line.split('  ').toReversed()));
}
