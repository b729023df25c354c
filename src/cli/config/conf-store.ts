import path from 'node:path';
import Conf from 'conf';
import { ensurePrivateDirectory } from '../../base/files/directory.ts';
import { writeFileAtomicSync } from '../../base/files/draft.ts';
import { type Config, configText, parseConfig } from './config-format.ts';

/**
 * The config file as a conf store, loaded only for writing, since conf costs more start-up time than a whole command.
 * conf's own writer ignores short writes, so that a full disk destroys the file, and lets other users read the file.
 * Therefore this class overrides `store`, through which conf makes every change, to write atomically and privately
 * (R08, R11).
 */
export class ConfStore extends Conf<Config> {
  constructor(file: string) {
    ensurePrivateDirectory(path.dirname(file));
    super({
      cwd: path.dirname(file),
      configName: path.basename(file, '.json'),
      projectSuffix: '',
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
