import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';

const ID = '#jq';
const LOADED = `\0${ID}`;

/** A plugin that embeds jq as text, since the tool may be installed without files beside it. */
interface EmbeddedJq {
  readonly name: string;
  resolveId(id: string): string | undefined;
  load(id: string): string | undefined;
}

/**
 * Provides `#jq`: jq-web as the text of a worker thread, and its WebAssembly compressed. For rolldown and Vite. A quality
 * above 9 takes seconds longer and saves only a twentieth; tests take 1, which saves them a second.
 */
export function embeddedJq(quality = 9): EmbeddedJq {
  return {
    name: 'embedded-jq',
    resolveId: (id) => (id === ID ? LOADED : undefined),
    load: (id) => (id === LOADED ? moduleText(quality) : undefined),
  };
}

/** Returns the folder of jq-web, whose license must accompany its code. */
export function jqDirectory(): string {
  return fileURLToPath(new URL('.', `file://${createRequire(import.meta.url).resolve('jq-web')}`));
}

function moduleText(quality: number): string {
  const directory = jqDirectory();
  const wasm = compressed(withoutNotes(readFileSync(`${directory}jq.wasm`)), quality).toString('base64');
  const worker = readFileSync(new URL('../src/cli/output/worker.cjs', import.meta.url), 'utf8');
  const program = `${startedByHand(readFileSync(`${directory}jq.js`, 'utf8'))}\n${worker}`;
  return `export const program = ${JSON.stringify(program)};\nexport const wasm = ${JSON.stringify(wasm)};\n`;
}

/** Makes jq-web start with the worker's data. By default it starts itself, with a module from a file beside it. */
function startedByHand(code: string): string {
  const needed = 'jq = jq().then( module => {';
  if (!code.includes(needed)) throw new Error(`jq-web no longer says ${needed}: change build/embed-jq.ts`);
  const given = `{ ...require('node:worker_threads').workerData }`;
  return code.replace(needed, `jq = jq(${given}).then( module => {`);
}

function compressed(bytes: Buffer, quality: number): Buffer {
  return brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } });
}

/** Returns the module without its custom sections: two thirds of it are notes for a debugger. */
function withoutNotes(wasm: Buffer): Buffer {
  const kept = [wasm.subarray(0, 8)];
  for (let at = 8; at < wasm.length;) {
    const [size, begin] = readNumber(wasm, at + 1);
    if (wasm[at] !== 0) kept.push(wasm.subarray(at, begin + size));
    at = begin + size;
  }
  return Buffer.concat(kept);
}

/** Reads a LEB128 number. Returns it, and where it ends. */
function readNumber(bytes: Buffer, from: number): [number: number, end: number] {
  let number = 0;
  for (let at = from, shift = 0; ; at += 1, shift += 7) {
    const byte = bytes[at] ?? 0;
    number += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) return [number, at + 1];
  }
}
