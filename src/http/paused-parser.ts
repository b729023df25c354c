import type { Duplex } from 'node:stream';
import symbols from 'undici/lib/core/symbols.js';

/** What is needed of the library's HTTP parser. */
interface Parser {
  paused: boolean;
  shouldKeepAlive: boolean;
  readonly ptr: number;
  readonly llhttp: { llhttp_resume(ptr: number): void };
  resume(): void;
}

/**
 * Guards a new connection against a fault of undici 7 (its issue 5360, mended in 8 only, which needs Node 22): when
 * the peer closes while a slow reader holds the parser back, an assertion that nobody can catch ends the process.
 * So, ahead of the library's own listeners, an end wakes the parser: all bytes were read by then. A break with bytes
 * still unread is made a plain failure, never the end of a body that is ended by closing.
 */
export function guardPausedParser(socket: Duplex): void {
  socket.on('end', () => {
    pausedParserOf(socket)?.resume();
    // It pauses at once again where the end of the connection is the end of the body.
    const parser = pausedParserOf(socket);
    if (!parser) return;
    parser.llhttp.llhttp_resume(parser.ptr);
    parser.paused = false;
  });
  // The library takes a break for an end where the body has no length; to it, this answer has one.
  socket.on('error', () => {
    const parser = parserOf(socket);
    if (parser) parser.shouldKeepAlive = true;
  });
  socket.on('close', () => {
    const parser = pausedParserOf(socket);
    if (parser) parser.shouldKeepAlive = true;
  });
}

function parserOf(socket: Duplex): Parser | undefined {
  const parser: unknown = Reflect.get(socket, symbols.kParser);
  return isParser(parser) ? parser : undefined;
}

function pausedParserOf(socket: Duplex): Parser | undefined {
  const parser = parserOf(socket);
  return parser?.paused === true ? parser : undefined;
}

function isParser(value: unknown): value is Parser {
  return typeof value === 'object' && value !== null && 'paused' in value && 'resume' in value;
}
