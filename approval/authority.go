package approval

import "context"

// Authority says what a principal may do, now. It is asked when a decision is made and again before anything runs. Only
// an error that is ErrNotAllowed is a definite no; any other means that the authority could not be asked.
type Authority interface {
	// MayApprove: by may decide on p, as far as p's requirement names roles and groups. Self-approval is not asked
	// here.
	MayApprove(ctx context.Context, by Principal, p Proposal) error
	// MayRequest: by may ask for the tool on the target.
	MayRequest(ctx context.Context, by Principal, tool string, t Target) error
	// MayResolve: by may say what became of an operation of the tenant whose outcome is unknown.
	MayResolve(ctx context.Context, by Principal, tenant, operation string) error
}

// RoleOperator is the role that resolves unknown outcomes under [ByRole].
const RoleOperator = "operator"

// ByRole is the Authority that believes the verified principal's roles. Approvers must be of the proposal's tenant and
// hold the requirement's role and its group (a group counts where Roles has its name); where the requirement names
// neither, nobody may approve. The policy approves where the level is None. Everybody may request in their own tenant.
// A person or service with the role "operator" resolves in its own tenant.
type ByRole struct{}

var _ Authority = ByRole{}

// MayApprove implements [Authority].
func (ByRole) MayApprove(_ context.Context, by Principal, p Proposal) error {
	need := p.Requirement
	if !by.Valid() || by.Tenant != p.Tenant || (by.Kind == PolicyDecision) != (need.Level == None) {
		return ErrNotAllowed
	}
	switch need.Level {
	case None:
		return nil
	case One, Two:
		named := need.Role != "" || need.Group != ""
		if named && holds(by, need.Role) && holds(by, need.Group) {
			return nil
		}
	case Deny:
	}
	return ErrNotAllowed
}

func holds(by Principal, name string) bool { return name == "" || by.HasRole(name) }

// MayRequest implements [Authority].
func (ByRole) MayRequest(_ context.Context, by Principal, _ string, _ Target) error {
	if !by.Valid() || by.Kind == PolicyDecision {
		return ErrNotAllowed
	}
	return nil
}

// MayResolve implements [Authority].
func (ByRole) MayResolve(_ context.Context, by Principal, tenant, _ string) error {
	if !by.Valid() || by.Kind == PolicyDecision || by.Tenant != tenant || !by.HasRole(RoleOperator) {
		return ErrNotAllowed
	}
	return nil
}
