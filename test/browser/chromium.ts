import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

// Debian's package, which .ci/packages installs, uses the first path.
const PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The path of Chromium on this machine; undefined if it is not installed. */
export const CHROMIUM = PATHS.find((path) => existsSync(path));

const ARGUMENTS = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Starts a headless Chromium with a new, empty profile. */
export function launchChromium(): Promise<Browser> {
  if (CHROMIUM === undefined) throw new Error('no Chromium was found');
  return chromium.launch({ executablePath: CHROMIUM, chromiumSandbox: false, args: ARGUMENTS });
}
