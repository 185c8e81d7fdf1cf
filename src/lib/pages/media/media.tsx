import { Header, StopForm } from '../document.tsx';
import { FileEntry } from './file-entry.tsx';
import { type MediaProps, mediaRefusal } from './media-model.ts';

/** The media library: what the tablet can show, for staff; a signed-in person uploads and deletes. */
export function Media(props: MediaProps) {
  const { site, library, viewer, t } = props;
  const { files } = library;
  return (
    <>
      <Header site={site} kind="media" t={t} viewer={viewer} />
      <main>
        <section>
          <h1>{t.media.title}</h1>
          <Summary {...props} />
          <Outcome {...props} />
          {viewer.signedIn ? (
            <Upload {...props} />
          ) : (
            <p>
              {t.media.signInToChange} <SignInButton {...props} />
            </p>
          )}
        </section>
        {files !== null && files.length > 0 && (
          <ul class="files">
            {files.map((file) => (
              <FileEntry key={file.name} file={file} {...props} />
            ))}
          </ul>
        )}
      </main>
      <footer>
        <StopForm t={t} />
      </footer>
    </>
  );
}

function SignInButton({ t }: MediaProps) {
  return (
    <a class="button" href="/anmeldung">
      {t.ui.signInLink}
    </a>
  );
}

function Summary({ library, t, f }: MediaProps) {
  const { files, moreFiles, leftBytes } = library;
  if (files === null) {
    return (
      <p class="alarm" role="alert">
        {t.media.unreadable}
      </p>
    );
  }
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  return (
    <p>
      {files.length === 0 ? t.media.empty : t.media.summary(files.length, f.size(bytes))}{' '}
      {moreFiles > 0 && <strong>{`${t.media.more(moreFiles)} `}</strong>}
      {leftBytes === null ? t.media.leftNotKnown : t.media.left(f.size(leftBytes))}
    </p>
  );
}

/** What became of the last upload or deletion. */
function Outcome(props: MediaProps) {
  const { ui, t } = props;
  const { problem, done } = ui;
  return (
    <>
      <p role="status">{done !== null && t.media.done[done.kind](done.name)}</p>
      {problem !== null && (
        <p class="alarm" role="alert">
          {mediaRefusal(problem, t)} {problem === 'NOT_SIGNED_IN' && <SignInButton {...props} />}
        </p>
      )}
    </>
  );
}

/** A page without script sends the same form, without progress. */
function Upload({ library, ui, t, f }: MediaProps) {
  const { upload, act } = ui;
  return (
    <form
      class="upload"
      method="post"
      action="/api/medien"
      enctype="multipart/form-data"
      onSubmit={(event) => {
        if (act === null) return;
        event.preventDefault();
        act.upload(event.currentTarget);
      }}
    >
      <label>
        {t.media.file}
        <input type="file" name="file" required disabled={upload !== null} />
      </label>
      <p>
        <small>{t.media.limits(f.size(library.maxBytes))}</small>
      </p>
      {upload === null ? (
        <button type="submit" class="go">
          {t.media.upload}
        </button>
      ) : (
        <div class="upload-progress">
          <p>
            {upload.share < 1
              ? t.media.uploading(upload.name, f.number(Math.floor(upload.share * 100), 0))
              : t.media.saving(upload.name)}
          </p>
          <progress max={1} value={upload.share} aria-label={t.media.upload} />
          {upload.share < 1 && (
            <button type="button" onClick={() => act?.cancelUpload()}>
              {t.media.cancelUpload}
            </button>
          )}
        </div>
      )}
    </form>
  );
}
