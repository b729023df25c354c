import type { Context } from '../../app/command.ts';
import { startBrowser } from '../../security/child-environment.ts';

/** Opens an address in the person's browser. Where that fails it says so: the address was printed. */
export async function openPage({ system, notices }: Context, address: string): Promise<void> {
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address))
    return notices.warn('the address is not opened: it is neither http nor https');
  const opener = OPENERS[system.platform] ?? ['xdg-open'];
  const child = startBrowser(opener, new URL(address).href, system.env);
  const failed = await new Promise<boolean>((resolve) => {
    child.once('error', () => resolve(true)).once('spawn', () => resolve(false));
  });
  child.unref();
  if (failed) notices.warn(`no browser could be opened (${opener[0]}); open the address yourself`);
}

type Opener = readonly [command: string, ...args: string[]];

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, Opener>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};
