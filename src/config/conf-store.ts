import path from 'node:path';
import Conf from 'conf';
import { ensurePrivateDirectory } from '../files/private-directory.ts';
import { writeFileAtomicSync } from '../files/replace.ts';
import { type Config, configText, parseConfig } from './document.ts';

/**
 * The config file as a conf store. Loaded only to write: conf costs more start-up time than a whole command.
 * Its own writer overlooks short writes and makes files that others can read; ours does neither (R08, R11).
 */
export class ConfStore extends Conf<Config> {
  constructor(file: string) {
    super({
      cwd: path.dirname(file),
      configName: path.basename(file, '.json'),
      projectSuffix: '',
      configFileMode: 0o600,
      clearInvalidConfig: false,
      accessPropertiesByDotNotation: false,
      serialize: configText,
      deserialize: (text) => parseConfig(text, file),
    });
  }

  protected override _write(config: Config): void {
    writeFileAtomicSync(this.path, configText(config));
  }

  protected override _ensureDirectory(): void {
    ensurePrivateDirectory(path.dirname(this.path));
  }
}
