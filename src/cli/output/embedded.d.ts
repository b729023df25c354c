/** jq as two texts, made by build/embed-jq.ts. */
declare module '#jq' {
  /** The program of the worker thread that runs jq. */
  export const program: string;
  /** jq as WebAssembly, compressed with Brotli, in base64. */
  export const wasm: string;
}

/** Data beside the code, embedded as text by build/embed-text.ts. */
declare module '*.csv' {
  export const text: string;
}
declare module '*.css' {
  export const text: string;
}
declare module '*.sh' {
  export const text: string;
}
declare module '*.md' {
  export const text: string;
}
declare module '*.bash' {
  export const text: string;
}
declare module '*.fish' {
  export const text: string;
}
declare module '*.ps1' {
  export const text: string;
}
declare module '*/_svc' {
  export const text: string;
}
