export type UploadOutcome =
  | { readonly kind: 'stored' | 'replaced' | 'cancelled' }
  /** null: no answer came. */
  | { readonly kind: 'refused'; readonly body: unknown };

/** Sends a file as its form would; `onProgress` gets the share of the sent bytes. Only XMLHttpRequest reports that. */
export function uploadFile(file: File, onProgress: (share: number) => void) {
  const request = new XMLHttpRequest();
  const { promise, resolve } = Promise.withResolvers<UploadOutcome>();
  request.open('POST', '/api/medien');
  request.setRequestHeader('accept', 'application/json');
  request.responseType = 'json';
  request.upload.addEventListener('progress', ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0));
  request.addEventListener('abort', () => resolve({ kind: 'cancelled' }));
  request.addEventListener('error', () => resolve({ kind: 'refused', body: null }));
  request.addEventListener('load', () => {
    const body: unknown = request.response;
    if (request.status !== 201) resolve({ kind: 'refused', body });
    else resolve({ kind: (body as { readonly replaced?: unknown })?.replaced === true ? 'replaced' : 'stored' });
  });
  const form = new FormData();
  form.append('file', file);
  request.send(form);
  return { done: promise, cancel: () => request.abort() };
}
