// The parts of conf that the store builds on. Its own types hide `_write` and `_ensureDirectory`, which are the only
// way to make its writes whole, atomic and private; a test fails should a later version no longer call them.
declare module 'conf' {
  interface ConfOptions<T> {
    readonly cwd: string;
    readonly configName: string;
    readonly projectSuffix: string;
    readonly configFileMode: number;
    readonly clearInvalidConfig: boolean;
    readonly accessPropertiesByDotNotation: boolean;
    readonly serialize: (config: T) => string;
    readonly deserialize: (text: string) => T;
  }

  export default class Conf<T extends object> {
    constructor(options: ConfOptions<T>);
    readonly path: string;
    get store(): T;
    set store(value: T);
    protected _write(value: T): void;
    protected _ensureDirectory(): void;
  }
}
