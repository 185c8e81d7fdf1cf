import { Enqueue, mayEnqueue } from '../delivery/queue.tsx';
import { noteText } from '../texts/catalogue.ts';
import { isFreeFor, mayGo, type Props } from '../ui.ts';
import { type Choice, orderPath } from '../viewer.ts';
import { choiceLabel } from './situation.ts';

/**
 * The question before a drive: nothing moves by one touch. It says why where the robot cannot drive now. A page without script sends
 * the same form.
 */
export function Sheet(props: Props) {
  const { viewer, ui, t, f } = props;
  const { choice, order } = ui;
  if (viewer.readOnly) return null;
  if (choice === null)
    return (
      ui.closed !== null && (
        <p class="sheet closed" role="status">
          {t.ui.questionClosed[ui.closed]}
        </p>
      )
    );
  const [goes, passes] = [mayGo(props, choice), mayPass(props, choice)];
  const close = () => ui.act?.choose(null);
  return (
    <div class="sheet" role="alertdialog" aria-labelledby="sheet-title" aria-describedby="sheet-why">
      <form
        method="post"
        action={orderPath(choice)}
        onSubmit={(event) => {
          if (ui.act === null) return;
          event.preventDefault();
          const field = (event.currentTarget as unknown as { although?: { value: string } }).although;
          ui.act.confirm(choice, field?.value ?? null);
        }}
      >
        <h2 id="sheet-title" tabIndex={-1}>
          {t.ask(choice, choiceLabel(choice, props.state, f))}
        </h2>
        {choice.kind === 'dock' ? (
          <input type="hidden" name="dock" value="true" />
        ) : choice.kind === 'next' ? (
          <>
            <input type="hidden" name="arrival" value={choice.arrival ?? ''} />
            <input type="hidden" name="next" value={choice.id} />
          </>
        ) : (
          <input type="hidden" name={choice.kind === 'station' ? 'station' : 'tour'} value={choice.name} />
        )}
        {order?.state === 'refused' && (
          <p class="alarm" role="alert" id="sheet-why">
            {t.refusals[order.code] ?? t.ui.notPossible}
          </p>
        )}
        {!goes && order === null && !mayEnqueue(props, choice) && <Why {...props} choice={choice} />}
        {passes && order === null && (
          <label>
            {t.ui.alertNumbers}
            <input name="although" inputMode="numeric" autocomplete="off" required />
          </label>
        )}
        <p class="choices">
          {order?.state !== 'refused' && (
            <button
              type="submit"
              class={ui.act === null ? 'go confirms' : 'go'}
              disabled={!(goes || passes) || order !== null}
              aria-disabled={ui.act !== null && !ui.isArmed ? 'true' : undefined}
            >
              {order !== null
                ? t.ui.sending
                : passes
                  ? t.ui.goAlthough
                  : choice.kind === 'resume'
                    ? t.ui.resume
                    : t.ui.go}
            </button>
          )}
          <Enqueue {...props} choice={choice} />
          {ui.act === null ? (
            <a class="button" href="/">
              {t.ui.goBack}
            </a>
          ) : (
            <button type="button" onClick={close}>
              {order?.state === 'refused' ? t.ui.close : t.ui.goBack}
            </button>
          )}
        </p>
      </form>
    </div>
  );

  function Why({ choice, ...props }: Props & { readonly choice: Choice }) {
    const { state, viewer, ui } = props;
    if (ui.isSilent) return <p id="sheet-why">{t.ui.noGateway}</p>;
    const { run, gate, site } = state;
    const alerts = gate.passable.map(({ text }) => text).join('; ');
    return (
      <ul class="why" id="sheet-why">
        {!isFreeFor(choice, props) && <li>{run === null ? t.refusals.TOUR_NOT_PAUSED : t.run(run, f)}</li>}
        {gate.notes.map((note) => (
          <li key={JSON.stringify(note)}>{noteText(note, t, f)}</li>
        ))}
        {site.needsSignIn && !viewer.signedIn && <li>{t.ui.signInToGo}</li>}
        {gate.passable.length > 0 && <li>{viewer.signedIn ? t.ui.passable(alerts) : t.ui.passHint(alerts)}</li>}
      </ul>
    );
  }
}

/** Only alerts keep the robot, and the person is signed in. */
function mayPass(props: Props, choice: Choice): boolean {
  const { state, viewer, ui } = props;
  if (choice.kind === 'next') return false;
  return viewer.signedIn && !ui.isSilent && state.gate.passable.length > 0 && isFreeFor(choice, props);
}
