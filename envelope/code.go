package envelope

// Code says what kind of thing went wrong. The constants are the library's own; a tool may declare domain codes of
// the same form, ^[A-Z][A-Z0-9_]{1,63}$, in its Failures. The zero value is no code and appears in no error.
type Code string

// The library's codes. Retryable says whether the very same call may succeed later without anything else being done.
const (
	// MalformedJSON: the bytes are not one JSON text (RFC 8259). Nothing was checked further.
	MalformedJSON Code = "MALFORMED_JSON"
	// DuplicateMember: a name stands twice in one object, compared after unescaping (RFC 8259 section 4).
	DuplicateMember Code = "DUPLICATE_MEMBER"
	// TrailingData: something other than white space follows the JSON text.
	TrailingData Code = "TRAILING_DATA"
	// PayloadTooLarge: the document, or with a field one part of it, exceeds a limit of size or number.
	PayloadTooLarge Code = "PAYLOAD_TOO_LARGE"
	// TooDeep: arrays and objects are nested beyond the limit.
	TooDeep Code = "TOO_DEEP"
	// UnknownField: a member that the schema does not declare.
	UnknownField Code = "UNKNOWN_FIELD"
	// InvalidArgument: a declared member breaks its schema; the rule is the JSON Schema keyword.
	InvalidArgument Code = "INVALID_ARGUMENT"
	// PreconditionFailed: the arguments are well formed and the state of the world forbids the action.
	PreconditionFailed Code = "PRECONDITION_FAILED"
	// NotFound: no such thing for this caller.
	NotFound Code = "NOT_FOUND"
	// VersionConflict: the target changed after the proposal was made.
	VersionConflict Code = "VERSION_CONFLICT"
	// UnknownTool: the catalogue has no tool of this name, spelt exactly so.
	UnknownTool Code = "UNKNOWN_TOOL"
	// UnsupportedVersion: the tool's version is retired.
	UnsupportedVersion Code = "UNSUPPORTED_VERSION"
	// NotPermitted: the run's role lacks the tool, or the requester the access.
	NotPermitted Code = "NOT_PERMITTED"
	// ApprovalPending: nobody decided yet.
	ApprovalPending Code = "APPROVAL_PENDING"
	// ApprovalRejected: a person said no, or took an approval back.
	ApprovalRejected Code = "APPROVAL_REJECTED"
	// ApprovalExpired: the proposal's time is over.
	ApprovalExpired Code = "APPROVAL_EXPIRED"
	// ApprovalConsumed: the approval was used, and what became of it is no longer kept.
	ApprovalConsumed Code = "APPROVAL_CONSUMED"
	// ApprovalMismatch: what was approved is not what would run now.
	ApprovalMismatch Code = "APPROVAL_MISMATCH"
	// ApproverNotAuthorized: an approver may not approve this, or no longer.
	ApproverNotAuthorized Code = "APPROVER_NOT_AUTHORIZED"
	// IdempotencyConflict: the same key with another request.
	IdempotencyConflict Code = "IDEMPOTENCY_CONFLICT"
	// InProgress: the operation, or another on its resource, is under way.
	InProgress Code = "IN_PROGRESS"
	// OutcomeUnknown: the write may or may not have happened; evidence or an operator resolves it, never a retry.
	OutcomeUnknown Code = "OUTCOME_UNKNOWN"
	// RateLimited: too many requests for now.
	RateLimited Code = "RATE_LIMITED"
	// BudgetExhausted: the run has used up what it was given.
	BudgetExhausted Code = "BUDGET_EXHAUSTED"
	// Cancelled: the run was stopped.
	Cancelled Code = "CANCELLED"
	// DeadlineExceeded: the time for the call is up.
	DeadlineExceeded Code = "DEADLINE_EXCEEDED"
	// UpstreamUnavailable: the other system does not answer properly for now.
	UpstreamUnavailable Code = "UPSTREAM_UNAVAILABLE"
	// Unavailable: a part of this system does not answer for now.
	Unavailable Code = "UNAVAILABLE"
	// UpstreamDenied: the other system refused the credentials or the access.
	UpstreamDenied Code = "UPSTREAM_DENIED"
	// UpstreamRejected: the other system refused the request.
	UpstreamRejected Code = "UPSTREAM_REJECTED"
	// InvalidResponse: the other system's answer broke its contract.
	InvalidResponse Code = "INVALID_RESPONSE"
	// OutputInvalid: the tool's own answer broke its contract.
	OutputInvalid Code = "OUTPUT_INVALID"
	// Internal: a fault of this system; the request id finds it for the operators.
	Internal Code = "INTERNAL"
)

// Failure declares a code: the words that the model reads and whether the same call may succeed later.
// Message holds at most 256 bytes. A Failure of one of the library's codes replaces its message for one tool.
type Failure struct {
	Code      Code
	Message   string
	Retryable bool
}

// MaxMessage is the longest message of a declared [Failure], in bytes.
const MaxMessage = 256

// Codes returns the library's codes in the order of their declaration.
func Codes() []Code {
	return []Code{
		MalformedJSON, DuplicateMember, TrailingData, PayloadTooLarge, TooDeep,
		UnknownField, InvalidArgument, PreconditionFailed, NotFound, VersionConflict,
		UnknownTool, UnsupportedVersion, NotPermitted, ApprovalPending, ApprovalRejected,
		ApprovalExpired, ApprovalConsumed, ApprovalMismatch, ApproverNotAuthorized, IdempotencyConflict,
		InProgress, OutcomeUnknown, RateLimited, BudgetExhausted, Cancelled,
		DeadlineExceeded, UpstreamUnavailable, Unavailable, UpstreamDenied, UpstreamRejected,
		InvalidResponse, OutputInvalid, Internal,
	}
}

// Declared returns the library's own declaration of a code; false for a code that is not the library's.
func Declared(c Code) (Failure, bool) {
	message, retryable := "", false
	switch c {
	case MalformedJSON:
		message = "the arguments are not one valid JSON text; send exactly one JSON object"
	case DuplicateMember:
		message = "a member name stands twice in one object; send each name once"
	case TrailingData:
		message = "something follows the JSON text; send exactly one JSON object and nothing after it"
	case PayloadTooLarge:
		message = "a size limit is exceeded; send less"
	case TooDeep:
		message = "the document is nested too deeply"
	case UnknownField:
		message = "a member is not declared; use only the names that the schema declares"
	case InvalidArgument:
		message = "an argument does not match the schema"
	case PreconditionFailed:
		message = "the present state does not allow this"
	case NotFound:
		message = "there is no such thing for this caller"
	case VersionConflict:
		message = "the target changed after the proposal was made; read it again and make a new proposal"
	case UnknownTool:
		message = "there is no tool of this name; use one of the listed names exactly"
	case UnsupportedVersion:
		message = "this version of the tool is retired; use the listed version"
	case NotPermitted:
		message = "this is not permitted here"
	case ApprovalPending:
		message, retryable = "nobody has decided on the proposal yet; ask again later", true
	case ApprovalRejected:
		message = "the proposal was rejected; another attempt needs a new proposal"
	case ApprovalExpired:
		message = "the proposal has expired; make a new one"
	case ApprovalConsumed:
		message = "the approval was used before; make a new proposal"
	case ApprovalMismatch:
		message = "the approval does not cover what would run now; make a new proposal"
	case ApproverNotAuthorized:
		message = "an approver is not authorized for this; a new proposal is needed"
	case IdempotencyConflict:
		message = "the key belongs to another request"
	case InProgress:
		message, retryable = "an operation is under way; ask again later", true
	case OutcomeUnknown:
		message = "the outcome cannot be proved; do not repeat it, an operator or evidence will resolve it"
	case RateLimited:
		message, retryable = "too many requests; wait before the next", true
	case BudgetExhausted:
		message = "the budget of this run is used up"
	case Cancelled:
		message = "the call or its run was stopped"
	case DeadlineExceeded:
		message, retryable = "the time for this call is up", true
	case UpstreamUnavailable:
		message, retryable = "the other system is not available now", true
	case Unavailable:
		message, retryable = "a part of this system is not available now", true
	case UpstreamDenied:
		message = "the other system denied access"
	case UpstreamRejected:
		message = "the other system rejected the request"
	case InvalidResponse:
		message = "the other system's answer broke its contract; operators can find it by the request id"
	case OutputInvalid:
		message = "the tool's answer broke its contract; operators can find it by the request id"
	case Internal:
		message = "something failed here; operators can find it by the request id"
	default:
		return Failure{}, false
	}
	return Failure{Code: c, Message: message, Retryable: retryable}, true
}

// ValidCode reports whether c has the form that a code must have, ^[A-Z][A-Z0-9_]{1,63}$.
func ValidCode(c Code) bool {
	if len(c) < 2 || len(c) > 64 || c[0] < 'A' || c[0] > 'Z' {
		return false
	}
	for i := 1; i < len(c); i++ {
		if b := c[i]; (b < 'A' || b > 'Z') && (b < '0' || b > '9') && b != '_' {
			return false
		}
	}
	return true
}
