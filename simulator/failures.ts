/** The failure types of the specification's Errors table; `null` is the generic failure. */
export type FailureType =
	| 'header_invalid'
	| 'bad_request'
	| 'authentication_failure'
	| 'rate_limit'
	| 'missing_parameter'
	| 'invalid_format'
	| 'invalid_value'
	| 'invalid_type'
	| 'invalid_sid'
	| null;

/** A refusal: what its body says, and the HTTP status that it is given unless one is fixed. */
export interface Failure {
	readonly type: FailureType;
	readonly description: string;
	readonly status: number;
	/** For a developer, sent as the header `X-Simulator-Reason`: the generic body names no cause. */
	readonly reason?: string;
}

// The specification leaves the status codes of failures open: these are the usual ones.
const usualStatus: Record<NonNullable<FailureType>, number> = {
	header_invalid: 401,
	bad_request: 400,
	authentication_failure: 401,
	rate_limit: 429,
	missing_parameter: 400,
	invalid_format: 400,
	invalid_value: 400,
	invalid_type: 400,
	invalid_sid: 404,
};

function failure(type: NonNullable<FailureType>, description: string, status?: number): Failure {
	return { type, description, status: status ?? usualStatus[type] };
}

function generic(status: number, reason: string): Failure {
	const description = 'Something went wrong. Please try again after some time';
	return { type: null, description, status, reason };
}

/** Every failure that the service gives (Specification, Errors), in the wording as issued. */
export const failures = {
	missingHeader: (name: string) => failure('header_invalid', `Missing required header ${name}`),
	wrongContentType: () => failure('header_invalid', 'Header Content-Type must be application/json'),
	badRequest: (status?: number) => failure('bad_request', 'Invalid JSON request', status),
	notAuthorized: () => failure('authentication_failure', 'You are not authorized'),
	rateLimit: (status?: number) => failure('rate_limit', 'Too many requests', status),
	unknownPath: () => generic(404, 'no operation has this path'),
	wrongMethod: () => generic(405, 'the operation has another method'),
	missingParameter: (name: string) =>
		failure('missing_parameter', `Missing required parameter ${name}`),
	sendAtFormat: () =>
		failure('invalid_format', 'Schedule date must be in valid format YYYY-MM-DD HH:MM +0'),
	expirePushFormat: () =>
		failure('invalid_format', 'Please provide the valid format for expire_push parameter'),
	sendAtTooSoon: () =>
		failure('invalid_value', 'Schedule date must be at least 5 minutes in future'),
	buttonValues: () => failure('invalid_value', "Invalid parameter 'action_buttons' values"),
	buttonsNotArray: () => failure('invalid_type', 'Parameter action_buttons must be an array'),
	unknownSubscriber: () => failure('invalid_sid', 'Subscriber not found'),
	unknownCampaign: () => failure('invalid_value', 'Invalid notification ID', 404),

	// Rules whose failure the specification does not list.
	wrongType: (name: string, wanted: string) =>
		failure('invalid_type', `Parameter ${name} must be ${wanted}`),
	wrongValue: (name: string, rule: string) => failure('invalid_value', `Parameter ${name} ${rule}`),
	notAccepted: (name: string) =>
		failure('invalid_value', `Parameter ${name} is not accepted by this operation`),
} as const;
