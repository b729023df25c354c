import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

// As Debian installs it; .ci/packages does.
const PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The program of a Chromium on this machine; undefined when there is none. */
export const CHROMIUM = PATHS.find((path) => existsSync(path));

const ARGUMENTS = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** A headless Chromium with an empty profile of its own. */
export function launchChromium(): Promise<Browser> {
  if (CHROMIUM === undefined) throw new Error('no Chromium was found');
  return chromium.launch({ executablePath: CHROMIUM, chromiumSandbox: false, args: ARGUMENTS });
}
