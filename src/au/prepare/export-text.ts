// Decodes the text of an export.

import { LF } from '../request/request-file.ts';

export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be';

/** Text of an export, and its lines, counted from 0, that are not in the encoding of the export. */
export interface DecodedText {
  readonly text: string;
  readonly converted: ReadonlySet<number>;
}

/** Decodes an export piece by piece. */
export interface ExportDecoder {
  decode(piece: Uint8Array): DecodedText;
  /** Decodes the rest of the last piece. */
  finish(): DecodedText;
}

export function exportDecoder(encoding: Encoding): ExportDecoder {
  return encoding === 'utf-8' ? new LineDecoder() : streamDecoder(encoding);
}

function streamDecoder(encoding: Encoding): ExportDecoder {
  const decoder = new TextDecoder(encoding);
  return {
    decode: (piece) => ({ text: decoder.decode(piece, { stream: true }), converted: NONE }),
    finish: () => ({ text: decoder.decode(), converted: NONE }),
  };
}

const NONE: ReadonlySet<number> = new Set();
const REPLACEMENT = '\uFFFD';
/** The characters of the bytes from 0x80 to 0x9F, which differ from Latin-1. Node 20 decodes them as Latin-1. */
const WESTERN = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008DŽ\u008F\u0090‘’“”•–—˜™š›œ\u009DžŸ';

function readWestern(line: Uint8Array): string {
  const text = Buffer.from(line).toString('latin1');
  return text.replaceAll(/[\u0080-\u009F]/g, (character) => WESTERN.charAt(character.charCodeAt(0) - 0x80));
}

/** More than the longest row, so that a line without an end is refused by its length. */
const MAX_LINE_LENGTH = 128 * 1024;

/**
 * Decodes whole lines as UTF-8, and each line that is not UTF-8 as Windows-1252: an export may join texts of several
 * programs.
 */
class LineDecoder implements ExportDecoder {
  readonly #loose = new TextDecoder('utf-8', { ignoreBOM: true });
  readonly #strict = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true });
  #rest = Buffer.alloc(0);
  #isStarted = false;

  decode(piece: Uint8Array): DecodedText {
    const end = piece.lastIndexOf(LF) + 1;
    if (end === 0 && this.#rest.length + piece.length <= MAX_LINE_LENGTH) {
      this.#rest = Buffer.concat([this.#rest, piece]);
      return { text: '', converted: NONE };
    }
    const lines = end === 0 ? piece : piece.subarray(0, end);
    const bytes = this.#rest.length === 0 ? lines : Buffer.concat([this.#rest, lines]);
    this.#rest = Buffer.from(piece.subarray(lines.length));
    return this.#decodeLines(bytes);
  }

  finish(): DecodedText {
    const rest = this.#rest;
    this.#rest = Buffer.alloc(0);
    return this.#decodeLines(rest);
  }

  #decodeLines(bytes: Uint8Array): DecodedText {
    let text = this.#loose.decode(bytes);
    let converted = NONE;
    if (text.includes(REPLACEMENT)) ({ text, converted } = this.#decodeEachLine(bytes));
    const hasMark = !this.#isStarted && text.startsWith('\uFEFF');
    this.#isStarted ||= bytes.length > 0;
    return { text: hasMark ? text.slice(1) : text, converted };
  }

  #decodeEachLine(bytes: Uint8Array): DecodedText {
    const converted = new Set<number>();
    const lines: string[] = [];
    for (let at = 0; at < bytes.length;) {
      const end = bytes.indexOf(LF, at) + 1 || bytes.length;
      const line = bytes.subarray(at, end);
      const text = this.#textOf(line);
      if (text === undefined) converted.add(lines.length);
      lines.push(text ?? readWestern(line));
      at = end;
    }
    return { text: lines.join(''), converted };
  }

  #textOf(line: Uint8Array): string | undefined {
    try {
      return this.#strict.decode(line);
    } catch {
      return undefined;
    }
  }
}
