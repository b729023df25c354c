import type { ServerResponse } from 'node:http';
import { setTimeout as later } from 'node:timers';
import type { Effect } from './fault.ts';

/** Sends a body as the effect damages it: stopped, reset, cut, or a byte at a time. The head is set already. */
export function sendDamaged(outgoing: ServerResponse, effect: Effect, body: Buffer): void {
  if (effect.hang === 'body') return begin(outgoing, body.subarray(0, Math.floor(body.length / 2)));
  if (typeof effect.reset === 'number') {
    // A reset overtakes what was sent before it unless that had the time to be read.
    return begin(outgoing, body.subarray(0, effect.reset), () => {
      later(() => outgoing.socket?.resetAndDestroy(), 20).unref();
    });
  }
  if (effect.truncate !== undefined)
    return begin(outgoing, body.subarray(0, effect.truncate), () => outgoing.socket?.destroySoon());
  if (effect.trickle !== undefined) return trickle(outgoing, body, effect.trickle);
  outgoing.end(body);
}

function begin(outgoing: ServerResponse, part: Buffer, then?: () => void): void {
  outgoing.flushHeaders();
  if (part.length === 0) then?.();
  else outgoing.write(part, () => then?.());
}

function trickle(outgoing: ServerResponse, body: Buffer, pause: number, sent = 0): void {
  if (outgoing.destroyed) return;
  if (sent === body.length) return void outgoing.end();
  outgoing.write(body.subarray(sent, sent + 1));
  later(() => trickle(outgoing, body, pause, sent + 1), pause).unref();
}
