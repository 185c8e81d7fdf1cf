import { MapView } from '../map/map-view.tsx';
import type { Texts } from '../texts/texts.ts';
import type { Props } from '../ui.ts';
import { noPose, type PoseDraft, type PoseFields, poseOf } from './pose-draft.ts';

/** The pose of the standing robot, set on the map: a touch places it, a drag turns it, and only the button sends it. */
export function SetPose(props: Props) {
  const { state, viewer, ui, t } = props;
  if (viewer.readOnly) return null;
  if (!viewer.signedIn) {
    return (
      <section id="set-pose">
        <h2>{t.service.setPose}</h2>
        <p>
          {t.service.setPoseNeedsSignIn} <a href="/anmeldung">{t.ui.signInLink}</a>
        </p>
      </section>
    );
  }
  return (
    <details
      id="set-pose"
      class="part plain"
      // After a restore, or a pose that did not take effect, it is what is to be done; its result stays in view.
      open={ui.pose !== noPose || state.gate.notes.some(({ code }) => code === 'pose-alarm')}
    >
      <summary>
        <h2>{t.service.setPose}</h2>
      </summary>
      {ui.act === null ? (
        <a class="button" href="/service?setzen=position">
          {t.service.poseByNumbers}
        </a>
      ) : (
        <div class="pose">
          <MapView {...props} isPosing />
          <PoseForm {...props} />
        </div>
      )}
    </details>
  );
}

function PoseForm(props: Props) {
  const { ui, t } = props;
  const { pose } = ui;
  const why = whyNot(props);
  return (
    <form
      method="post"
      action="/api/pose"
      onSubmit={(event) => {
        event.preventDefault();
        ui.act?.setPose();
      }}
    >
      <p>{t.service.poseHint}</p>
      <PoseInputs t={t} fields={pose} onEdit={(change) => ui.act?.editPose(change)} />
      {why !== null && <p class="doubt">{why}</p>}
      <PoseEnd order={pose.order} t={t} />
      <button type="submit" class="go" disabled={why !== null || poseOf(pose) === null || pose.order === 'sending'}>
        {pose.order === 'sending' ? t.ui.sending : t.service.doSetPose}
      </button>
    </form>
  );
}

/** Why it cannot be set now, as far as the page can see; the gate decides. */
function whyNot({ state, ui, t }: Props): string | null {
  if (ui.isSilent) return t.ui.noGateway;
  if (state.link.kind !== 'connected') return t.refusals.CHASSIS_NOT_CONNECTED ?? '';
  if (state.stop.latched) return t.refusals.MOTION_STOPPED ?? '';
  return null;
}

interface InputsProps {
  readonly t: Texts;
  /** null: the form keeps them itself. */
  readonly fields: PoseFields | null;
  readonly onEdit?: (change: Partial<PoseFields>) => void;
}

/** The three numbers. Without script they are what the form sends. */
export function PoseInputs({ t, fields, onEdit }: InputsProps) {
  const input = (name: keyof PoseFields, label: string) => (
    <label>
      {label}
      <input
        name={name}
        type="number"
        step="any"
        autocomplete="off"
        required
        {...(fields !== null && {
          value: fields[name],
          onInput: (event: { readonly currentTarget: unknown }) =>
            onEdit?.({ [name]: (event.currentTarget as { readonly value: string }).value }),
        })}
      />
    </label>
  );
  return (
    <div class="numbers">
      {input('xM', t.service.xM)}
      {input('yM', t.service.yM)}
      {input('yawDeg', t.service.yawDeg)}
      <small>{t.service.degreesHint}</small>
    </div>
  );
}

/** What became of it: only what the robot has reported back is set. */
export function PoseEnd({ order, t }: { readonly order: PoseDraft['order']; readonly t: Texts }) {
  if (order === 'none' || order === 'sending') return null;
  if (order === 'set')
    return (
      <p class="done" role="status">
        {t.service.poseIsSet}
      </p>
    );
  const { code, technical } = order;
  return (
    <div class="alarm" role="alert">
      <p>{t.service.poseEnds[code] ?? t.refusals[code] ?? t.service.poseNotSet}</p>
      {technical !== '' && (
        <small lang="en" class="technical">
          {technical}
        </small>
      )}
    </div>
  );
}
