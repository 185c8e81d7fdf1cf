import { toDegrees, toRadians } from '../angle/convert.ts';
import { type Degrees, degrees, radians } from '../angle/index.ts';

/**
 * The angle fields of the chassis, each with its own named codec. A wrong unit raises no error on the platform and
 * moves the robot wrongly, so no other code in gw converts a value of such a field. Elsewhere degrees and radians meet
 * only in geometry: courses, trials, judgements of the unit, pictures.
 * @source specification, 'Angles (critical rule)'
 */

/** `POST /chassis/moves` `target_ori`: radians on the wire. */
export function encodeTargetOri(yaw: Degrees): number {
  return toRadians(yaw);
}

/** `GET /chassis/moves/<id>` `target_ori`: radians on the wire. Throws RangeError when not finite. */
export function decodeTargetOri(targetOri: number): Degrees {
  return toDegrees(radians(targetOri));
}

/** `POST /chassis/pose` `ori`: radians on the wire; 1.5708 sent is reported back as 90 degrees. */
export function encodePoseOri(yaw: Degrees): number {
  return toRadians(yaw);
}

/** `/tracked_pose` `ori`: degrees on the wire, no conversion. Throws RangeError when not finite. */
export function decodeTrackedPoseOri(ori: number): Degrees {
  return degrees(ori);
}
