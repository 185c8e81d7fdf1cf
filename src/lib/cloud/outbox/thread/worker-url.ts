/** Address of the module with the code of the worker thread: a source file, or its chunk in the build (vite.config.ts). */
export function workerUrl(): URL {
  return new URL('./worker.ts', import.meta.url);
}
