/** A refusal: what its body says, and its HTTP status. */
export interface Failure {
	/** One of the specification's Errors table; the generic failure has none. */
	readonly type?: string;
	readonly description: string;
	readonly status: number;
	/** For a developer, sent as the header `X-Simulator-Reason`: the generic body names no cause. */
	readonly reason?: string;
}

const failure = (type: string, description: string, status = 400): Failure => ({
	type,
	description,
	// The specification leaves the status codes of failures open: these are the usual ones.
	status,
});

const generic = (status: number, reason: string): Failure => ({
	description: 'Something went wrong. Please try again after some time',
	status,
	reason,
});

/** Every failure that the service gives (Specification, Errors), in the wording as issued. */
export const failures = {
	missingHeader: (name: string) =>
		failure('header_invalid', `Missing required header ${name}`, 401),
	wrongContentType: failure('header_invalid', 'Header Content-Type must be application/json', 401),
	badRequest: failure('bad_request', 'Invalid JSON request'),
	bodyTooLarge: failure('bad_request', 'Invalid JSON request', 413),
	notAuthorized: failure('authentication_failure', 'You are not authorized', 401),
	rateLimit: failure('rate_limit', 'Too many requests', 429),
	unknownPath: generic(404, 'no operation has this path'),
	wrongMethod: generic(405, 'the operation has another method'),
	missingParameter: (name: string) =>
		failure('missing_parameter', `Missing required parameter ${name}`),
	sendAtFormat: failure(
		'invalid_format',
		'Schedule date must be in valid format YYYY-MM-DD HH:MM +0',
	),
	expirePushFormat: failure(
		'invalid_format',
		'Please provide the valid format for expire_push parameter',
	),
	sendAtTooSoon: failure('invalid_value', 'Schedule date must be at least 5 minutes in future'),
	buttonValues: failure('invalid_value', "Invalid parameter 'action_buttons' values"),
	buttonsNotArray: failure('invalid_type', 'Parameter action_buttons must be an array'),
	unknownSubscriber: failure('invalid_sid', 'Subscriber not found', 404),
	unknownCampaign: failure('invalid_value', 'Invalid notification ID', 404),

	// Rules whose failure the specification does not list.
	wrongType: (name: string, wanted: string) =>
		failure('invalid_type', `Parameter ${name} must be ${wanted}`),
	wrongValue: (name: string, rule: string) => failure('invalid_value', `Parameter ${name} ${rule}`),
};
