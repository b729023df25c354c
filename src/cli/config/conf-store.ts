import path from 'node:path';
import Conf from 'conf';
import { ensurePrivateDirectory } from '../../base/files/directory.ts';
import { writeFileAtomicSync } from '../../base/files/draft.ts';
import { type Config, configText, parseConfig } from './config-file.ts';

/**
 * The config file as a conf store. Loaded only to write: conf costs more start-up time than a whole command.
 * conf's own writer overlooks short writes (a full disk destroys the file) and makes files that others can read, so
 * `store`, through which conf makes every change, is written atomically and privately here (R08, R11).
 */
export class ConfStore extends Conf<Config> {
  constructor(file: string) {
    ensurePrivateDirectory(path.dirname(file));
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

  override get store(): Config {
    return super.store;
  }

  override set store(config: Config) {
    ensurePrivateDirectory(path.dirname(this.path));
    writeFileAtomicSync(this.path, configText(config));
    this.events.dispatchEvent(new Event('change'));
  }
}
