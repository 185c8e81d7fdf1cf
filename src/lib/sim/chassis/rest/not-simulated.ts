import { notSimulated, type RestReply } from './rest-reply.ts';

const CALIBRATION = 'calibration; the robot has no real sensors';
const OTHER_MODEL = 'cargo devices; the robot has none';
const ABSENT_ERRORS = 'this error; the robot never has it';
const RECORDINGS = 'recordings';
const HARDWARE = 'this hardware';

/**
 * Endpoints of the vendor's texts and client (HINWEIS) that are not simulated, with what the answer names as missing.
 * Each entry includes all paths below it.
 */
export const unsupportedPaths: Readonly<Record<string, string>> = {
  '/mappings': 'mapping',
  '/ros': 'ROS',
  '/bags': RECORDINGS,
  '/recording': RECORDINGS,
  '/videos': RECORDINGS,
  '/core_dumps': RECORDINGS,
  '/collected_data': 'landmarks',
  '/hostnames': 'the name service of the robot',
  '/app_store': 'the installation of packages',
  '/bluetooth': HARDWARE,
  '/wifi_setup': 'web pages',
  '/rb-admin': 'web pages',
  '/device/usb_devices': HARDWARE,
  '/device/chrony': 'time sources; the robot uses the clock of the computer',
  '/device/sensors': HARDWARE,
  '/device/imu_bias_temperature_curve': HARDWARE,
  '/device/params/dynamic': 'dynamic parameters',
  '/services/baseboard': HARDWARE,
  '/services/calibrate_depth_cameras': CALIBRATION,
  '/services/calibrate_depth_camera_masks': CALIBRATION,
  '/services/calibrate_duo_lidar_poses': CALIBRATION,
  '/services/calibrate_forklift_backward_camera': CALIBRATION,
  '/services/calibrate_forklift_lidar_poses': CALIBRATION,
  '/services/calibrate_head_lidar_pose': CALIBRATION,
  '/services/calibrate_lidar_yaws': CALIBRATION,
  '/services/calibrate_rear_lidar_pose': CALIBRATION,
  '/services/calibrate_top_lidar_pose': CALIBRATION,
  '/services/clean_disk': HARDWARE,
  '/services/clear_fall_risk_warning': ABSENT_ERRORS,
  '/services/clear_jack_errors': OTHER_MODEL,
  '/services/clear_range_data_all_zero_error': ABSENT_ERRORS,
  '/services/clear_slipping_error': ABSENT_ERRORS,
  '/services/clear_steering_angle_error': ABSENT_ERRORS,
  '/services/clear_system_down_unexpectedly': ABSENT_ERRORS,
  '/services/clear_towing_hook_error': OTHER_MODEL,
  '/services/confirm_estop': 'slopes',
  '/services/depth_camera': HARDWARE,
  '/services/enable_auto_mapping': 'mapping',
  '/services/get_nav_thumbnail': 'pictures of the surroundings',
  '/services/get_rgb_image': HARDWARE,
  '/services/imu': CALIBRATION,
  '/services/jack_down': OTHER_MODEL,
  '/services/jack_self_check': OTHER_MODEL,
  '/services/jack_up': OTHER_MODEL,
  '/services/load_cargo': OTHER_MODEL,
  '/services/monitor': ABSENT_ERRORS,
  '/services/monitor_recheck_errors': ABSENT_ERRORS,
  '/services/occupancy_grid_server': 'obstacle maps',
  '/services/probe_v2x_beacons': HARDWARE,
  '/services/query_pose/pallet_pose': OTHER_MODEL,
  '/services/query_pose/rack_pose': OTHER_MODEL,
  '/services/query_pose/trailer_pose': OTHER_MODEL,
  '/services/reset_usb_devices': HARDWARE,
  '/services/restart_py_axbot': 'parts of the software; restart_service restarts all of it',
  '/services/roller_load': OTHER_MODEL,
  '/services/roller_unload': OTHER_MODEL,
  '/services/set_route_mode': HARDWARE,
  '/services/setup_wifi': HARDWARE,
  '/services/start_collecting_landmarks': 'landmarks',
  '/services/start_rack_size_detection': 'racks',
  '/services/step_time': 'time sources; the robot uses the clock of the computer',
  '/services/stop_collecting_landmarks': 'landmarks',
  '/services/stop_rack_size_detection': 'racks',
  '/services/towing_hook_lock': OTHER_MODEL,
  '/services/towing_hook_release': OTHER_MODEL,
  '/services/unload_cargo': OTHER_MODEL,
  '/services/wheel_control/reset_wheels': 'the reset of the wheels',
};

/** The answer to an endpoint of the vendor that is not simulated; undefined for any other path. */
export function notSimulatedReply(path: string): RestReply | undefined {
  for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
    const prefix = path.slice(0, end);
    if (Object.hasOwn(unsupportedPaths, prefix)) return notSimulated(unsupportedPaths[prefix] ?? '');
  }
  return undefined;
}
