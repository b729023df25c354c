import type { Context } from '../../cli/context.ts';
import { flag, value } from '../../cli/parameter.ts';
import { text } from '../../cli/values.ts';
import { SvcError } from '../../errors.ts';
import { isLoopbackHost } from '../../schema/loopback.ts';

/** Options that say where to listen. */
export const ADDRESS_PARAMETERS = {
  host: value('--host <address>', 'address to listen on (default 127.0.0.1, this machine only)', text),
  allowRemote: flag(
    '--allow-remote',
    'let --host be an address that other machines reach; nobody is asked for a key',
  ),
} as const;

/** The host to listen on. One that is not loopback needs its own option, and a warning. */
export function listeningHost(
  { notices }: Context,
  input: { readonly host: string | undefined; readonly allowRemote: boolean },
): string | undefined {
  const { host } = input;
  if (host === undefined || isLoopbackHost(host)) return host;
  if (!input.allowRemote) {
    throw new SvcError('usage', '--host is not an address of this machine alone', {
      hint: 'Leave it out, or add --allow-remote if other machines are to reach the listener.',
    });
  }
  notices.warn('the listener can be reached from other machines: whoever reaches it can make up events');
  return host;
}
