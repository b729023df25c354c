import nodePath from 'node:path';
import { SvcError } from '../errors.ts';
import type { System } from '../system.ts';

/** The config file's name in its directory. */
export const CONFIG_FILE_NAME = 'config.json';

/** What finding a directory needs of its process. */
export type PathsHost = Pick<System, 'env' | 'platform' | 'home' | 'cwd'>;

/** Where profiles and keys live: SVC_CONFIG_DIR, or the system's place for settings. Undefined without a home. */
export function configDirectory(system: PathsHost): string | undefined {
  return directory(system, 'config');
}

/** Where runs and checkpoints live: SVC_STATE_DIR, or the system's place for state. Undefined without a home. */
export function stateDirectory(system: PathsHost): string | undefined {
  return directory(system, 'state');
}

/** Where what can be fetched again lives: SVC_CACHE_DIR, or the system's place for caches. Undefined without a home. */
export function cacheDirectory(system: PathsHost): string | undefined {
  return directory(system, 'cache');
}

/** What a directory holds. */
export type DirectoryKind = 'config' | 'state' | 'cache';

/** The directory of this kind, for a writer. Throws `SvcError` `config` when the environment gives no place. */
export function requireDirectory(system: PathsHost, kind: DirectoryKind): string {
  const found = directory(system, kind);
  if (found !== undefined) return found;
  throw new SvcError('config', `there is no home directory to keep the ${kind} in`, {
    hint: `Set HOME, or set ${LOCATIONS[kind].variable} to a directory of svc's own.`,
  });
}

interface LocationSpec {
  readonly variable: string;
  readonly xdg: string;
  readonly unix: string;
  readonly mac: string;
  readonly windowsVariable: string;
  readonly windows: string;
  readonly windowsName: string;
}

const LOCATIONS: Readonly<Record<DirectoryKind, LocationSpec>> = {
  config: {
    variable: 'SVC_CONFIG_DIR',
    xdg: 'XDG_CONFIG_HOME',
    unix: '.config',
    mac: 'Library/Preferences',
    windowsVariable: 'APPDATA',
    windows: 'AppData/Roaming',
    windowsName: 'svc/Config',
  },
  state: {
    variable: 'SVC_STATE_DIR',
    xdg: 'XDG_STATE_HOME',
    unix: '.local/state',
    mac: 'Library/Application Support',
    windowsVariable: 'LOCALAPPDATA',
    windows: 'AppData/Local',
    windowsName: 'svc/State',
  },
  cache: {
    variable: 'SVC_CACHE_DIR',
    xdg: 'XDG_CACHE_HOME',
    unix: '.cache',
    mac: 'Library/Caches',
    windowsVariable: 'LOCALAPPDATA',
    windows: 'AppData/Local',
    windowsName: 'svc/Cache',
  },
};

function directory(system: PathsHost, kind: DirectoryKind): string | undefined {
  const place = LOCATIONS[kind];
  const path = system.platform === 'win32' ? nodePath.win32 : nodePath.posix;
  const chosen = system.env[place.variable];
  if (chosen) return path.resolve(system.cwd, chosen);

  const home = system.home ? system.home : undefined;
  const under = (part: string): string | undefined =>
    home === undefined ? undefined : path.join(home, part);
  if (system.platform === 'win32') {
    const base = system.env[place.windowsVariable] || under(place.windows);
    return base === undefined ? undefined : path.join(base, place.windowsName);
  }
  const base =
    system.platform === 'darwin' ? under(place.mac) : (absolute(system, place.xdg) ?? under(place.unix));
  return base === undefined ? undefined : path.join(base, 'svc');
}

// The XDG rules say that a relative path is to be passed over.
function absolute(system: PathsHost, variable: string): string | undefined {
  const value = system.env[variable];
  return value !== undefined && nodePath.posix.isAbsolute(value) ? value : undefined;
}
