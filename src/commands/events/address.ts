import type { Context } from '../../cli/context.ts';
import { flag, type Input, repeated, value } from '../../cli/parameter.ts';
import { hostName, text } from '../../cli/values.ts';
import { SvcError } from '../../errors.ts';
import type { ReceiverOptions } from '../../events/receiver.ts';
import { isLoopbackHost } from '../../schema/loopback.ts';

/** Options that say where to listen. */
export const ADDRESS_PARAMETERS = {
  host: value('--host <address>', 'address to listen on (default 127.0.0.1, this machine only)', text),
  allowRemote: flag(
    '--allow-remote',
    'let --host be an address that other machines reach; nobody is asked for a key',
  ),
  allowHost: repeated(
    '--allow-host <name>',
    'another name that senders may use, such as that of a tunnel; can be given again',
    hostName,
  ),
} as const;

/** Where to listen, and for whom. An address that is not loopback needs its own option, and a warning. */
export function listeningAddress(
  { notices }: Context,
  input: Input<typeof ADDRESS_PARAMETERS>,
): Pick<ReceiverOptions, 'host' | 'allowHosts'> {
  const { host, allowHost } = input;
  if (host === undefined || isLoopbackHost(host)) return { host, allowHosts: allowHost };
  if (!input.allowRemote) {
    throw new SvcError('usage', '--host is not an address of this machine alone', {
      hint: 'Leave it out, or add --allow-remote if other machines are to reach the listener.',
    });
  }
  notices.warn('the listener can be reached from other machines: whoever reaches it can make up events');
  return { host, allowHosts: 'any' };
}
