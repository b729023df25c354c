import { isInstalled } from '../base/files/names.ts';
import type { System } from '../base/system.ts';

/** The programs of the secret managers for which docs/settings.md has recipes. */
export const SECRET_MANAGERS = ['secret-tool', 'pass', 'op', 'vault', 'aws', 'security'] as const;

/** Returns the secret managers whose program is on the PATH. */
export function installedSecretManagers({ env, platform }: Pick<System, 'env' | 'platform'>): string[] {
  return SECRET_MANAGERS.filter((name) => {
    // Only on macOS is the program of this name a secret manager.
    if (name === 'security' && platform !== 'darwin') return false;
    return isInstalled(platform === 'win32' ? `${name}.exe` : name, env);
  });
}
