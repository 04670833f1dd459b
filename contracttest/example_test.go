package contracttest_test

import (
	"fmt"

	"github.com/toolcontract/toolcontract/contracttest"
	"github.com/toolcontract/toolcontract/contracttest/internal/samples"
	"github.com/toolcontract/toolcontract/tool"
)

// In a _test.go file this is contracttest.Run(t, …); Check says the same without a test.
func Example() {
	catalog, err := tool.NewCatalog(samples.GetCustomer())
	if err != nil {
		fmt.Println(err)
		return
	}
	report := contracttest.Check(contracttest.Make(func() (*contracttest.Fixture, error) { return contracttest.Assemble(catalog) }))
	fmt.Println(report.Err(), report.Executed > 100)
	// Output: <nil> true
}

func ExampleStringsMatching() {
	short, long, nearMiss, err := contracttest.StringsMatching("^[A-Z]{2}[0-9]{2,4}$", 0, 34)
	fmt.Println(len(short), len(long), nearMiss != "", err)
	// Output: 4 6 true <nil>
}
