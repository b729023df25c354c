// The completion scripts of each shell, and how svc talks to them.

import { text as zshScript } from '../../../completions/_svc';
import { text as script } from '../../../completions/svc.bash';
import { text as fishScript } from '../../../completions/svc.fish';
import { text as powershellScript } from '../../../completions/svc.ps1';
import type { System } from '../../base/system.ts';
import type { Entry } from '../../cli/app/command.ts';
import { GLOBAL_PARAMETERS } from '../../cli/app/global-parameters.ts';
import { topicList } from '../../cli/app/topics.ts';
import type { PathsHost } from '../../cli/config/paths.ts';
import { writePlain } from '../../cli/output/output.ts';
import { ownMember } from '../../schema/own-member.ts';
import { quoted, readLine, unquote } from './bash-line.ts';
import { type Candidates, candidatesFor, type Completable, NOTHING } from './complete.ts';

interface Question {
  /** The words before the typed one, without `svc`, as the command would get them. */
  readonly words: readonly string[];
  /** The start of the word being typed, as far as the cursor. */
  readonly current: string;
  /** Whether the word is a file after `>` or `<`, which the shell completes itself. */
  readonly redirected?: boolean;
  /** Formats the candidates for the shell's script. */
  print(found: Candidates): string;
}

/** A shell: its completion script, and the protocol between the script and svc. */
export interface Shell {
  /** The command that uses the script in the running shell. */
  readonly example: string;
  /**
   * Returns the script, which passes the typed line to `svc __complete` and offers the result. The script names no
   * commands, so it never becomes outdated, and it evaluates nothing that was typed or returned.
   */
  readonly script: () => string;
  /** Parses the arguments that the script passes. */
  read(args: readonly string[]): Question;
}

/** Returns the first line of most results: the kind of completion, and whether a space follows the word. */
function header({ kind, open }: Candidates): string {
  return open ? `${kind} nospace` : kind;
}

function lines(all: readonly string[]): string {
  return all.map((line) => `${line}\n`).join('');
}

/** Joins a value and its description with a tab; a value without a description has no tab. */
function described(value: string, description: string): string {
  return description === '' ? value : `${value}\t${description}`;
}

/**
 * The completion of bash 3.2 and later, which has no descriptions. COMP_WORDS is unusable, because bash splits words at =
 * and : and drops the blanks between them. The script therefore passes the line up to the cursor, and the end of the word
 * that readline will replace ($2).
 */
const bash: Shell = {
  example: 'source <(svc completion bash)',
  script: () => script,
  read([tail = '', line = '']) {
    const { words, raw, redirected } = readLine(line);
    const { text: current, open } = unquote(raw);
    // readline replaces only the end of the word, so the beginning must stay as typed.
    const head = raw.endsWith(tail) ? unquote(raw.slice(0, raw.length - tail.length)).text : '';
    const insertion = (word: string): string | undefined =>
      word.startsWith(head) ? quoted(word.slice(head.length), open) : undefined;
    return {
      words: words.slice(1),
      current,
      redirected,
      print(found) {
        const words = found.candidates.flatMap(([value]) => insertion(found.prefix + value) ?? []);
        return lines([header(found), ...words]);
      },
    };
  },
};

/** The completion of zsh with its completion system (compinit). */
const zsh: Shell = {
  example: 'source <(svc completion zsh)',
  script: () => zshScript,
  read(args) {
    return {
      words: args.slice(0, -1),
      current: args.at(-1) ?? '',
      print(found) {
        const [kind = '', ...flags] = header(found).split(' ');
        const head = [kind, found.prefix.length, ...flags].join(' ');
        return lines([head, ...found.candidates.map(([value, description]) => pair(value, description))]);
      },
    };
  },
};

/**
 * The completion of fish 3.4 and later. It offers files where a directory is needed, because fish cannot list
 * directories alone.
 */
const fish: Shell = {
  example: 'svc completion fish | source',
  script: () => fishScript,
  read(args) {
    return {
      words: args.slice(0, -1),
      // fish passes the word at the cursor with its quotes.
      current: unquote(args.at(-1) ?? '').text,
      print({ kind, prefix, candidates }) {
        return lines([kind, ...candidates.map(([value, description]) => described(prefix + value, description))]);
      },
    };
  },
};

/**
 * The completion of Windows PowerShell 5.1 and PowerShell 7. Version 5.1 mangles empty arguments and arguments with
 * quotes, so all words travel as one Base64 text. PowerShell completes files itself if svc returns nothing.
 */
const powershell: Shell = {
  example: 'svc completion powershell | Out-String | Invoke-Expression',
  script: () => powershellScript,
  read([typed = '']) {
    const [word = '', raw = '', ...words] = Buffer.from(typed, 'base64').toString('utf8').split('\0');
    const current = raw.replaceAll(/^['"]|['"]$/g, '');
    const wordText = word.replaceAll(/^['"]|['"]$/g, '');
    // In `id,sta` PowerShell replaces only the part after the comma.
    const head = current.endsWith(wordText) ? current.slice(0, current.length - wordText.length) : '';
    return {
      words,
      current,
      print({ prefix, candidates }) {
        const rows = candidates.map(([value, description]) => {
          const whole = prefix + value;
          const part = whole.startsWith(head) ? whole.slice(head.length) : whole;
          return [singleQuoted(part), value, description].join('\t');
        });
        return lines(rows);
      },
    };
  },
};

export const SHELL_NAMES = ['bash', 'zsh', 'fish', 'powershell'] as const;
export type ShellName = (typeof SHELL_NAMES)[number];

export const SHELLS: Readonly<Record<ShellName, Shell>> = { bash, zsh, fish, powershell };

/**
 * Runs `svc __complete`, which completion scripts call on TAB. Prints no errors, because they would appear in the line
 * being typed.
 */
export async function runComplete(argv: readonly string[], system: System, tree: readonly Entry[]): Promise<number> {
  const program = { tree, globals: GLOBAL_PARAMETERS, topics: topicList() };
  try {
    const text = await complete(program, argv, system);
    return text === undefined ? 2 : await writePlain(system, text);
  } catch {
    return 1;
  }
}

/**
 * Returns the output for a completion script, given the shell's name and the script's arguments; undefined for an
 * unknown shell. Uses no network and writes nothing.
 */
export async function complete(program: Completable, argv: readonly string[], system: PathsHost) {
  const [name = '', ...args] = argv;
  const question = ownMember<Shell>(SHELLS, name)?.read(args);
  if (!question) return undefined;
  const { words, current, redirected } = question;
  if (redirected) return question.print({ ...NOTHING, kind: 'files' });
  return question.print(await candidatesFor(program, words, current, system));
}

// zsh's _describe separates value and description at a colon.
function pair(value: string, description: string): string {
  const escaped = value.replaceAll(/[\\:]/g, String.raw`\$&`);
  return description === '' ? escaped : `${escaped}:${description}`;
}

// PowerShell expands nothing within single quotes. Quotes inside are doubled, including typographic ones.
function singleQuoted(text: string): string {
  if (new RegExp(String.raw`^[\p{L}\p{N}_+=:./\\-]+$`, 'u').test(text)) return text;
  return `'${text.replaceAll(/['‘’‚‛]/g, '$&$&')}'`;
}
