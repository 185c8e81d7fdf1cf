import { kindOf, MAX_SHOWN_IMAGE_BYTES, type MediaFile, type MediaProps, mediaPath } from './media-model.ts';

type EntryProps = MediaProps & { readonly file: MediaFile };

/** One file: played or shown here where it can be, else offered for download, so that STOPP stays in view. */
export function FileEntry(props: EntryProps) {
  const { file, viewer, ui, t, f } = props;
  const isChosen = viewer.signedIn && ui.chosen === file.name;
  return (
    <li class="file">
      <h2>{file.name}</h2>
      <small>{`${t.media.kinds[kindOf(file.contentType)]}, ${f.size(file.bytes)}`}</small>
      <Content {...props} />
      {isChosen ? <AskRemove {...props} /> : <Choices {...props} />}
    </li>
  );
}

function Content({ file, ui, t }: EntryProps) {
  const { name, contentType, bytes } = file;
  const { act } = ui;
  if (ui.unplayable.includes(name)) return <p class="alarm">{t.media.unplayable}</p>;
  const kind = kindOf(contentType);
  const player = {
    src: mediaPath(name),
    controls: true,
    // Nothing is loaded before a person plays it: each player takes one of the few connections of the browser.
    preload: 'none',
    'aria-label': name,
    onPlay: (event: { readonly currentTarget: object }) => act?.plays(event.currentTarget),
    onError: () => act?.cannotPlay(name),
  } as const;
  if (kind === 'audio') return <audio {...player} />;
  // A film over the whole screen would cover STOPP.
  if (kind === 'video') return <video {...player} playsInline controlsList="nofullscreen" disablePictureInPicture />;
  if (kind !== 'image') return null;
  if (bytes > MAX_SHOWN_IMAGE_BYTES) return <p>{t.media.largeImage}</p>;
  return <img src={player.src} alt={name} loading="lazy" onError={player.onError} />;
}

function Choices({ file, viewer, ui, t }: EntryProps) {
  const { name } = file;
  return (
    <p class="choices">
      <a class="button" href={mediaPath(name)} download={name} aria-label={t.media.downloadNamed(name)}>
        {t.media.download}
      </a>
      {viewer.signedIn && (
        <a
          class="button"
          href={`/medien?loeschen=${encodeURIComponent(name)}#frage`}
          aria-label={t.media.removeNamed(name)}
          onClick={(event) => {
            if (ui.act === null) return;
            event.preventDefault();
            ui.act.choose(name);
          }}
        >
          {t.media.remove}
        </a>
      )}
    </p>
  );
}

/** The question before a deletion. A page without script sends the same form. */
function AskRemove({ file, ui, t }: EntryProps) {
  const { name } = file;
  const { act } = ui;
  return (
    <form
      id="frage"
      class="ask"
      method="post"
      action={`${mediaPath(name)}/loeschen`}
      onSubmit={(event) => {
        if (act === null) return;
        event.preventDefault();
        act.remove(name);
      }}
    >
      <p role="alert">{t.media.askRemove(name)}</p>
      <p class="choices">
        <button type="submit" class="confirms" disabled={ui.isDeleting}>
          {ui.isDeleting ? t.media.removing : t.media.remove}
        </button>
        {act === null ? (
          <a class="button" href="/medien">
            {t.ui.goBack}
          </a>
        ) : (
          <button type="button" onClick={() => act.choose(null)}>
            {t.ui.goBack}
          </button>
        )}
      </p>
    </form>
  );
}
