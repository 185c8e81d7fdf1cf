import { hydrate, render } from 'preact';
import { Media } from '../src/lib/pages/media/media.tsx';
import {
  type MediaInteraction,
  type MediaLibraryView,
  type MediaPage,
  mediaPath,
  stillMedia,
} from '../src/lib/pages/media/media-model.ts';
import { textsOf } from '../src/lib/pages/texts/catalogue.ts';
import { send } from './orders.ts';
import { startStopForm } from './stop.tsx';
import { uploadFile } from './upload.ts';

const REMOVE_MS = 10_000;
const LIST_MS = 5_000;

/** Brings the media page to life: upload with its progress, deletion without a reload, one player at a time. */
export function startMedia(root: HTMLElement, { site, viewer, chosen, ...page }: MediaPage): void {
  const { t, f } = textsOf(viewer.language, 'UTC');
  let { library } = page;
  let ui: MediaInteraction = { ...stillMedia, chosen };
  let cancel: (() => void) | null = null;

  const element = () => <Media site={site} library={library} viewer={viewer} ui={ui} t={t} f={f} />;

  function show(change: Partial<MediaInteraction>): void {
    const { chosen: before } = ui;
    ui = { ...ui, ...change };
    render(element(), root);
    // The button that was pressed is gone: whoever has no pointer goes on at the question.
    if (ui.chosen !== before && ui.chosen !== null) {
      root.querySelector<HTMLElement>('.ask button[type=button]')?.focus();
    }
  }

  /** What the library holds now, to be shown with what was done; an old list stays where it cannot be read. */
  async function refresh(): Promise<void> {
    library = (await readLibrary()) ?? library;
  }

  async function remove(name: string): Promise<void> {
    show({ isDeleting: true, problem: null, done: null });
    const answer = await send('DELETE', mediaPath(name), {}, REMOVE_MS);
    const settled = answer?.ok
      ? ({ done: { kind: 'deleted', name } } as const)
      : { problem: codeOf(answer?.body) ?? 'NO_ANSWER' };
    await refresh();
    show({ isDeleting: false, chosen: null, ...settled });
  }

  async function upload(form: HTMLFormElement): Promise<void> {
    const file = form.querySelector('input')?.files?.[0];
    if (file === undefined || ui.upload !== null) return;
    const { name } = file;
    show({ upload: { name, share: 0 }, problem: null, done: null });
    let isCancelled = false;
    cancel = () => {
      isCancelled = true;
    };
    await refresh();
    const problem = isCancelled ? null : tooMuch(file.size, library);
    if (isCancelled) show({ upload: null, done: { kind: 'cancelled', name } });
    else if (problem !== null) show({ upload: null, problem });
    else {
      const sending = uploadFile(file, (share) => show({ upload: { name, share } }));
      cancel = sending.cancel;
      const outcome = await sending.done;
      await refresh();
      if (outcome.kind === 'refused') show({ upload: null, problem: codeOf(outcome.body) ?? 'NO_ANSWER' });
      else {
        show({ upload: null, done: { kind: outcome.kind, name } });
        if (outcome.kind !== 'cancelled') form.reset();
      }
    }
    cancel = null;
  }

  hydrate(element(), root);
  show({
    act: {
      choose: (name) => show({ chosen: name, problem: null, done: null }),
      remove: (name) => void remove(name),
      upload: (form) => void (form instanceof HTMLFormElement && upload(form)),
      cancelUpload: () => cancel?.(),
      plays(element) {
        for (const other of players(root)) if (other !== element) release(other);
      },
      cannotPlay: (name) => show({ unplayable: [...ui.unplayable, name] }),
    },
  });
  // Another choice than the address says would come back with a reload.
  if (chosen !== null) history.replaceState(null, '', location.pathname);
  // A browser has six connections to the gateway. STOPP waits for none of those that this page still uses.
  startStopForm(root, viewer, () => {
    cancel?.();
    for (const player of players(root)) release(player);
    window.stop();
  });
}

const players = (root: HTMLElement) => root.querySelectorAll<HTMLMediaElement>('audio, video');

/** Also a player that is paused keeps its connection, until it loads anew: nothing, before it is played again. */
function release(player: HTMLMediaElement): void {
  if (player.paused && player.readyState === 0) return;
  player.pause();
  player.load();
}

/** Known before a byte is sent; the gateway decides. */
function tooMuch(bytes: number, { maxBytes, leftBytes }: MediaLibraryView): string | null {
  if (bytes > maxBytes) return 'TOO_LARGE';
  return leftBytes !== null && bytes > leftBytes ? 'NO_SPACE' : null;
}

function codeOf(body: unknown): string | null {
  return (body as { readonly error?: { readonly code?: string } } | null | undefined)?.error?.code ?? null;
}

async function readLibrary(): Promise<MediaLibraryView | null> {
  try {
    const reply = await fetch('/api/medien', { signal: AbortSignal.timeout(LIST_MS) });
    return reply.ok ? ((await reply.json()) as MediaLibraryView) : null;
  } catch {
    return null;
  }
}
