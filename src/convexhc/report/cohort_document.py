"""stub"""
def write_cohort_report(cohort, file, **options):
    """Stub."""
